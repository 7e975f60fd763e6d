"""Streams and events of a simulated device, which notice what nobody waits for.

Operations are done at once; what is kept is which stream knows of which. Each stream counts its operations, and holds,
of every stream, the count up to which it has waited (vector clocks: Mattern, 1989). Reading what a stream wrote that
the reader does not know of is an error there, where a device would now and then give old numbers.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any


class Unsynchronized(RuntimeError):
    """A stream reads what another one may not have written yet; the message names both."""


class Stream:
    """A queue of operations; ``known`` maps the number of a stream to the count that this one has waited for."""

    _numbers = itertools.count()

    def __init__(self, device: Any = None, **_: Any) -> None:
        self.number = next(self._numbers)
        self.known: dict[int, int] = defaultdict(int)

    def wait_stream(self, other: Stream) -> None:
        """Have what comes next here wait for all that is there."""
        _learn(self.known, other.known)

    def wait_event(self, event: Event) -> None:
        """Have what comes next here wait for ``event``."""
        _learn(self.known, event.known)

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event behind all that is here."""
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Have the host wait for all that is here."""
        Timeline.current.join(self.known)

    def query(self) -> bool:
        """Whether all that is here is done; it is, since operations are done at once."""
        return True


class Event:
    """A point in a stream."""

    _moments = itertools.count()

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self.known: dict[int, int] = {}
        self._moment = 0

    def record(self, stream: Stream | None = None) -> None:
        """Put this behind all that is in ``stream``, or in the current one."""
        self.known = dict((stream or Timeline.current.stream).known)
        self._moment = next(self._moments)

    def wait(self, stream: Stream | None = None) -> None:
        """Have what comes next in ``stream``, or in the current one, wait for this."""
        (stream or Timeline.current.stream).wait_event(self)

    def synchronize(self) -> None:
        """Have the host wait for this."""
        Timeline.current.join(self.known)

    def query(self) -> bool:
        """Whether this is reached."""
        return True

    def elapsed_time(self, later: Event) -> float:
        """Return the number of events between, as milliseconds: a simulation has no time of its own."""
        return float(later._moment - self._moment)


class Timeline:
    """All streams of the simulated device, and who wrote which memory last."""

    current: Timeline

    def __init__(self) -> None:
        self.stream = self.default = Stream()
        self.synchronized = 0
        self._host: dict[int, int] = {}
        self._streams = [self.default]
        self._writers: dict[int, tuple[int, int]] = {}

    def entered(self, stream: Stream) -> _Entered:
        """Return a context in which ``stream`` is the current one."""
        return _Entered(self, stream)

    def read(self, memory: int) -> None:
        """Note that the current stream reads ``memory``, the address of a storage; raises Unsynchronized."""
        writer, count = self._writers.get(memory, (self.stream.number, 0))
        if self.stream.known[writer] < count:
            raise Unsynchronized(
                f"stream {self.stream.number} reads what stream {writer} may still be writing: nothing waits for it"
            )

    def wrote(self, memory: int) -> None:
        """Note that the current stream writes ``memory``."""
        known = self.stream.known
        known[self.stream.number] += 1
        self._writers[memory] = (self.stream.number, known[self.stream.number])

    def join(self, known: dict[int, int]) -> None:
        """Have the host, and so all that is launched from now on, know what is ``known``."""
        for learner in (self._host, *(stream.known for stream in self._streams)):
            _learn(learner, known)

    def synchronize(self) -> None:
        """Have the host wait for all streams."""
        self.synchronized += 1
        for stream in list(self._streams):
            self.join(stream.known)

    def add(self, stream: Stream) -> None:
        """Have ``stream`` be one of the device's, which knows what the host has waited for."""
        if stream not in self._streams:
            self._streams.append(stream)
        _learn(stream.known, self._host)


class _Entered:
    def __init__(self, timeline: Timeline, stream: Stream) -> None:
        self._timeline, self._stream = timeline, stream

    def __enter__(self) -> None:
        self._before = self._timeline.stream
        self._timeline.add(self._stream)
        self._timeline.stream = self._stream

    def __exit__(self, *_: object) -> None:
        self._timeline.stream = self._before


def _learn(mine: dict[int, int], other: dict[int, int]) -> None:
    for stream, count in other.items():
        mine[stream] = max(mine.get(stream, 0), count)


Timeline.current = Timeline()
