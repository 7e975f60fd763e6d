"""The keeper: a small process behind a gateway that keeps one runner alive, and never runs a kernel itself.

It stays responsive whatever a kernel does. When a runner crashes or hangs it says so in the runner's place, and has the
next one started by the time of the next request. It ends, and ends its runner, when the process that opened it is gone.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import execnet

from platforms.handle import Departed, RunnerLost, RunnerProcess
from platforms.log import Log
from platforms.platform import VARIABLE

START_LIMIT = 300.0
"""Seconds that a runner may take to be ready: everything is imported and the device opened meanwhile."""

ALIVE = ("alive", None, "")
"""What a keeper answers at once to the same, whatever its runner does meanwhile."""

Reply = tuple[str, Any, str]
"""What a request is answered with: ("reply", bytes of the runner, note), ("lost", {status, message, seconds}, note), or
("unready", why there is no runner, note). The note says what else happened, or ""."""


def keep(channel: Any) -> None:
    """Answer requests from ``channel`` until it closes.

    The first message is a dict: ``environment`` (set before anything is imported in a runner), ``start_method``, and
    ``runner``, the JSON that :mod:`platforms.preload` reads. Every other one is (key, limit, first limit, bytes), or
    :data:`ALIVE`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    boot = channel.receive()
    os.environ.update(boot["environment"])
    os.environ[VARIABLE] = boot["runner"]
    inbox = _Inbox(channel)
    keeper = Keeper(boot["start_method"], inbox.departed)
    try:
        keeper.refresh()
        for request in inbox:
            reply = keeper.answer(*request)
            channel.send(reply)
            keeper.refresh()
    except (Departed, OSError):
        pass  # nobody is left to tell
    finally:
        keeper.stop()


class Keeper:
    """Keeps a runner. ``departed`` is a descriptor that becomes readable when nobody waits for answers any more."""

    def __init__(self, start_method: str, departed: int) -> None:
        self._start_method = start_method
        self._departed = departed
        self._log = Log()
        self._runner: RunnerProcess | None = None
        self._unready = ""

    def refresh(self) -> None:
        """Have a runner starting if there is none; does not wait for it."""
        if self._runner is None:
            try:
                self._runner = RunnerProcess(self._start_method, self._log, self._departed)
                self._unready = ""
            except RunnerLost as lost:
                self._unready = str(lost)

    def answer(self, key: str, limit: float, first_limit: float, request: bytes) -> Reply:
        """Return the reply to one request; ``key`` has ``first_limit`` seconds when a runner hears of it first."""
        note = self._replace_dead()
        self.refresh()
        unready = self._wait_until_ready()
        if unready or self._runner is None:
            return "unready", unready, note
        started = time.perf_counter()
        try:
            answer = self._runner.ask(key, request, limit=limit, first_limit=first_limit)
        except RunnerLost as lost:
            self.stop()
            seconds = time.perf_counter() - started
            return "lost", {"status": lost.status, "message": str(lost), "seconds": seconds}, note
        if answer[:1] == b"!":
            self.stop()
        return "reply", answer[1:], note

    def stop(self) -> None:
        """End the runner, if there is one."""
        if self._runner is not None:
            self._runner.kill()
            self._runner = None

    def _replace_dead(self) -> str:
        epitaph = self._runner.epitaph if self._runner else ""
        if not epitaph or self._runner is None or not self._runner.last:
            return ""
        last = self._runner.last
        self.stop()
        return f"the runner died after it had answered for {last}: {epitaph}"

    def _wait_until_ready(self) -> str:
        if self._runner is None:
            return self._unready
        try:
            message = self._runner.ready(START_LIMIT)
        except RunnerLost as lost:
            self.stop()
            return str(lost)
        trouble = execnet.loads(message) if message else ""
        if trouble:
            self.stop()
        return trouble


class _Inbox:
    """The requests, and a descriptor that becomes readable when there will be no more."""

    def __init__(self, channel: Any) -> None:
        self.departed, self._open_end = os.pipe()
        self._channel = channel
        self._requests: SimpleQueue[Any] = SimpleQueue()
        channel.setcallback(self._take, endmarker=None)

    def __iter__(self) -> Iterator[Any]:
        while (request := self._requests.get()) is not None:
            yield request

    def _take(self, request: Any) -> None:
        if request == ALIVE:
            self._channel.send(ALIVE)
            return
        self._requests.put(request)
        if request is None:
            os.close(self._open_end)
