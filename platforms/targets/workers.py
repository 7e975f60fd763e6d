"""Launches compiled side by side, each in a process that is replaced if the compiler dies or takes too long."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading, printed
from platforms.targets.toolchain import Build

Task = tuple[Build, Architecture]


@dataclass
class _Worker:
    """A process that compiles: what it is at, and since when."""

    process: Any
    connection: Connection
    number: int = 0
    since: float = 0.0

    def begin(self, number: int) -> None:
        self.number, self.since = number, time.monotonic()
        self.connection.send(number)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def compiled(tasks: Sequence[Task], *, jobs: int, time_limit: float) -> Iterator[tuple[int, Reading]]:
    """Yield the number of each task and its reading, as they come; what takes ``time_limit`` seconds is cut off."""
    left = iter(range(len(tasks)))
    busy: list[_Worker] = []
    try:
        for number in itertools.islice(left, jobs):
            busy.append(_started(tasks))
            busy[-1].begin(number)
        while busy:
            wait([one.connection for one in busy], timeout=0.2)
            for worker in list(busy):
                reading, alive = _ask(worker, tasks, time_limit)
                if reading is None:
                    continue
                yield worker.number, reading
                busy.remove(worker)
                following = next(left, None)
                if not alive or following is None:
                    worker.end()
                if following is not None:
                    busy.append(worker if alive else _started(tasks))
                    busy[-1].begin(following)
    finally:
        for worker in busy:
            worker.end()


def _ask(worker: _Worker, tasks: Sequence[Task], time_limit: float) -> tuple[Reading | None, bool]:
    """Return what became of a worker's task, None while it is at it, and whether the worker can go on."""
    target = tasks[worker.number][1].name
    took = time.monotonic() - worker.since
    if worker.connection.poll():
        try:
            return worker.connection.recv(), True
        except (EOFError, OSError):
            worker.process.join()
            ended = f"the compiler ended its process with {worker.process.exitcode}"
            return Reading(target=target, error=ended, seconds=took), False
    if took > time_limit:
        return Reading(target=target, unfinished=f"not compiled within {time_limit:g} s", seconds=took), False
    return None, True


def _started(tasks: Sequence[Task]) -> _Worker:
    """Return a worker that was forked: it has everything that is imported here, and the tasks."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, tasks, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _work(connection: Connection, tasks: Sequence[Task], parent: int) -> None:
    with tempfile.TemporaryFile("w+") as said:
        os.dup2(said.fileno(), 2)  # compilers print what is wrong, and raise that something was
        # Others that were forked hold the other end of the pipe too, so that its end says nothing of who asks.
        while os.getppid() == parent:
            if not connection.poll(1.0):
                continue
            number = connection.recv()
            said.seek(0)
            said.truncate()
            build, one = tasks[number]
            reading = build.read(one)
            said.seek(0)
            why = printed(said.read()) if reading.error else ""
            connection.send(replace(reading, error=why) if why else reading)
