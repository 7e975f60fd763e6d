"""The ranks of one group, started together and replaced together: one that is lost takes the group with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from platforms import wire
from platforms.contracts import NotApplicable
from platforms.execution import Call, CallLost
from platforms.platform import Platform
from platforms.ranks.group import Progress
from platforms.ranks.messages import call_from_value
from platforms.ranks.rank import serve

START_LIMIT = 120.0
"""Seconds that ranks may take to find each other."""

_AFTERMATH = 1.0
"""Seconds that the others have to answer when a rank has raised or ended: it may have been their fault."""


class World:
    """``size`` ranks on ``platform``, each a process. Raises CallLost where they cannot be started."""

    current: World | None = None
    """The one group that is kept: those of other sizes are asked for in another order seldom."""

    def __init__(self, platform: Platform, size: int) -> None:
        # A process that may have used a device cannot be forked; on a processor a fork has everything imported.
        forked = platform.device == "cpu" and platform.start_method != "spawn"
        context: Any = multiprocessing.get_context("fork" if forked else "spawn")
        self.platform, self.size = platform, size
        self._noted = context.RawArray("q", 2 * size)
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        for rank in range(size):
            mine, theirs = context.Pipe()
            arguments = (rank, size, platform.for_worker(rank).to_value(), theirs, self._noted)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._connections.append(mine)
            self._processes.append(process)
        self._meet()

    @classmethod
    def of(cls, platform: Platform, size: int) -> World:
        """Return a group of ``size`` ranks on ``platform``: the one that is there, or a new one in its place."""
        if cls.current and (cls.current.platform, cls.current.size) != (platform, size):
            cls.current.stop()
        if cls.current is None:
            cls.current = cls(platform, size)
        return cls.current

    def ask(self, request: dict[str, Any], limit: float) -> list[Any]:
        """Return what each rank answers to the same request; raises CallLost as :meth:`run` does."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.send_bytes(wire.pack(request))
        return list(self._gathered(limit).values())

    def run(self, requests: Sequence[dict[str, Any]], limit: float) -> list[Call]:
        """Return what came of one call, by rank; ``requests`` are what each is asked.

        Raises CallLost, which names the rank, where one ends, raises while others wait, or does not answer in
        ``limit`` seconds; the group is then no more. Raises NotApplicable where the ranks say so.
        """
        for connection, request in zip(self._connections, requests, strict=True):
            with contextlib.suppress(OSError):  # that it is gone shows when it should answer
                connection.send_bytes(wire.pack(request))
        answers = self._gathered(limit)
        if reasons := [answer["not applicable"] for answer in answers.values() if "not applicable" in answer]:
            raise NotApplicable(reasons[0])
        calls = [call_from_value(answer) for answer in answers.values()]
        if any(call.message for call in calls):
            self.stop()  # what the others have begun with it may never end
        return calls

    def stop(self) -> None:
        """End all ranks."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        for process, connection in zip(self._processes, self._connections, strict=True):
            process.join(10)
            connection.close()
        if World.current is self:
            World.current = None

    def _meet(self) -> None:
        """Have the ranks find each other."""
        port = self._gathered(START_LIMIT, of=(0,))[0]
        if not isinstance(port, int):
            self.stop()
            raise CallLost("crashed", f"rank 0 cannot start: {port}")
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.send_bytes(wire.pack(port))
        troubles = self._gathered(START_LIMIT)
        for rank, trouble in troubles.items():
            if trouble:
                self.stop()
                raise CallLost("crashed", f"rank {rank} cannot start: {trouble}")

    def _gathered(self, limit: float, of: Sequence[int] | None = None) -> dict[int, Any]:
        """Return what each rank answers; raises CallLost."""
        awaited = {self._connections[rank]: rank for rank in (range(self.size) if of is None else of)}
        answers: dict[int, Any] = {}
        ended: dict[int, str] = {}
        deadline = time.monotonic() + limit
        while awaited and (remaining := deadline - time.monotonic()) > 0:
            ready = wait(list(awaited), min(remaining, 3600.0))
            for connection in [one for one in awaited if one in ready]:
                rank = awaited.pop(connection)
                try:
                    answers[rank] = wire.unpack(connection.recv_bytes())
                except (EOFError, OSError):
                    ended[rank] = self._epitaph(rank)
                if rank in ended or _raised(answers[rank]):
                    deadline = min(deadline, time.monotonic() + _AFTERMATH)
        if ended or awaited:
            lost = self._lost(ended, answers, list(awaited.values()), limit)
            self.stop()
            raise lost
        return dict(sorted(answers.items()))

    def _lost(self, ended: dict[int, str], answers: dict[int, Any], awaited: list[int], limit: float) -> CallLost:
        if ended:
            return CallLost("crashed", "; ".join(f"rank {rank} {how}" for rank, how in sorted(ended.items())))
        raised = [f"rank {rank}: {answers[rank]['message']}" for rank in sorted(answers) if _raised(answers[rank])]
        if raised:
            return CallLost("raised", "\n".join(raised))
        if missing := self._never_came(list(answers), awaited):
            who, waiting = (", ".join(f"rank {rank}" for rank in ranks) for ranks in (missing, awaited))
            return CallLost("hung", f"{who} returned without a message that {waiting} waited in for {limit:g} s")
        late = self._late(awaited)
        who = ", ".join(f"rank {rank}" for rank in late)
        others = [rank for rank in awaited if rank not in late]
        waiting = f"; rank {', '.join(map(str, others))} waited for it" if others else ""
        return CallLost("hung", f"{who} did not answer in {limit:g} s{waiting}")

    def _never_came(self, answered: list[int], awaited: list[int]) -> list[int]:
        """Return which of the ranks that have answered took part in fewer messages than all that have not."""
        inside = [self._progress(rank).begun for rank in awaited]
        return [rank for rank in answered if self._progress(rank).begun < min(inside)]

    def _progress(self, rank: int) -> Progress:
        return Progress(*self._noted[2 * rank : 2 * rank + 2])

    def _late(self, awaited: list[int]) -> list[int]:
        """Return which of the ranks that did not answer the others wait for."""
        progress = {rank: self._progress(rank) for rank in awaited}
        outside = [rank for rank in awaited if progress[rank].begun == progress[rank].over]
        if outside:
            return outside
        least = min(one.begun for one in progress.values())
        return [rank for rank in awaited if progress[rank].begun == least]

    def _epitaph(self, rank: int) -> str:
        process = self._processes[rank]
        process.join(_AFTERMATH)
        code = process.exitcode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended itself with exit code {code}"


def _raised(answer: Any) -> bool:
    return isinstance(answer, dict) and bool(answer.get("message"))
