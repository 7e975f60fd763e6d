"""A runner process from outside: start it, ask it, see how it ended, end it.

Nothing here imports torch: the keeper that uses it must stay small and quick.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import time
from multiprocessing.connection import Connection
from typing import Any

from platforms.log import Log

_LOOK = 0.5  # seconds between looks at the size of the log
_LOG_LIMIT = 64 * 2**20
_LAST_WORDS = 0.2  # seconds that a hung runner has to say where it is


class Departed(Exception):
    """Whoever was waiting for the answer has gone."""


class RunnerLost(Exception):
    """The runner did not answer. ``status`` is "crashed" or "hung"; the message says how, and what it last printed."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class RunnerProcess:
    """One runner process. Starting it returns at once; :meth:`ready` waits until it can be asked."""

    def __init__(self, start_method: str, log: Log, departed: int) -> None:
        """Start a runner; ``departed`` is a descriptor that becomes readable when nobody waits for answers any more.

        Raises RunnerLost if it cannot be started.
        """
        self.last = ""
        """What it was asked for last, or "" if nothing yet."""
        self._asked: set[str] = set()
        self._log = log
        self._is_ready = False
        context: Any = multiprocessing.get_context(start_method)
        if start_method == "forkserver":
            context.set_forkserver_preload(["platforms.preload"])
        self._connection, theirs = context.Pipe()
        their_lifeline, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(theirs, their_lifeline))
        try:
            self._process.start()
        except (OSError, EOFError) as error:
            raise RunnerLost("crashed", f"no runner could be started: {error!r}\n{log.tail()}".strip()) from None
        finally:
            theirs.close()
            their_lifeline.close()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._connection, selectors.EVENT_READ)
        self._selector.register(self._process.sentinel, selectors.EVENT_READ)
        self._selector.register(departed, selectors.EVENT_READ)
        self._departed = departed

    def ready(self, limit: float) -> bytes:
        """Return the runner's first message, if it has not been read before; raises RunnerLost or Departed."""
        if self._is_ready:
            return b""
        message = self._wait(limit)
        self._is_ready = True
        return message

    def ask(self, key: str, request: bytes, *, limit: float, first_limit: float) -> bytes:
        """Return the answer to ``request``; raises RunnerLost or Departed.

        It has ``limit`` seconds, and ``first_limit`` when this runner is asked for ``key`` the first time.
        """
        limit = limit if key in self._asked else first_limit
        self._asked.add(key)
        self.last = key
        self._log.clear()
        try:
            self._connection.send_bytes(request)
        except OSError:
            raise self._ended() from None
        return self._wait(limit)

    @property
    def epitaph(self) -> str:
        """How the process ended, or "" while it lives."""
        return "" if self._process.is_alive() else self._how_it_ended()

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)  # it may not have left its parent's group yet
        self._process.join(10)
        self._selector.close()
        self._connection.close()
        self._lifeline.close()

    def _wait(self, limit: float) -> bytes:
        deadline = time.monotonic() + limit
        while True:
            remaining = deadline - time.monotonic()
            ready = {key.fd for key, _ in self._selector.select(max(0.0, min(remaining, _LOOK)))}
            if self._departed in ready:
                raise Departed
            if self._connection.fileno() in ready:
                try:
                    return self._connection.recv_bytes()
                except (EOFError, OSError):
                    raise self._ended() from None
            if ready:
                raise self._ended()
            if remaining <= 0:
                raise self._hung(f"no answer in {limit:g} s")
            if self._log.size > _LOG_LIMIT:
                raise self._hung(f"printed more than {_LOG_LIMIT >> 20} MiB without an end")

    def _ended(self) -> RunnerLost:
        self._process.join(_LAST_WORDS)
        if self._process.exitcode is None:
            self.kill()
            return RunnerLost("crashed", f"closed its connection and lived on\n{self._log.tail()}".strip())
        return RunnerLost("crashed", f"{self._how_it_ended()}\n{self._log.tail()}".strip())

    def _hung(self, what: str) -> RunnerLost:
        # faulthandler answers this signal with a traceback, even from inside a loop in C.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR1)
        time.sleep(_LAST_WORDS)
        self.kill()
        return RunnerLost("hung", f"{what}\n{self._log.tail()}".strip())

    def _how_it_ended(self) -> str:
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"ended itself with exit code {code}"


def _run(connection: Connection, lifeline: Connection) -> None:
    from platforms.serving import serve

    serve(connection, lifeline)
