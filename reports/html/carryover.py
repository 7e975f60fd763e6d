"""What optimizations bring on each device, and what becomes of them between two, in rows for the HTML document."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports.heat import Heat
from reports.ladder.carrying import ways
from reports.ladder.classes import CLASSES, FASTER, NEUTRAL, UNRESOLVED
from reports.ladder.rungs import Rung, rungs

_STATES = {"carries over": "pass", "gained": "pass", FASTER: "pass", NEUTRAL: "none", UNRESOLVED: "none"}


@dataclass(frozen=True)
class Technique:
    """An optimization of an operation: its rung on each device, the size at which it was timed, and the answer."""

    technique: str
    operation: str
    size: str
    rungs: tuple[Rung, ...]
    answer: str

    @property
    def state(self) -> str:
        """Which colour the answer has: "pass", "none" or "fail"."""
        return _STATES.get(self.answer, "fail")


@dataclass(frozen=True)
class Carryover:
    """One device, or two of which the second is the target, and what optimizations bring there."""

    devices: tuple[str, ...]
    techniques: tuple[Technique, ...]


def carryovers(heats: Sequence[Heat]) -> Iterator[Carryover]:
    """Yield one for each two devices of ``heats``, or for the only one."""
    found = list(rungs(heats))
    devices = list(dict.fromkeys(heat.device for heat in heats))
    for pair in itertools.combinations(devices, 2):
        several = [
            Technique(
                way.origin.arm.technique, way.origin.heat.operation, way.size, (way.origin, way.target), way.answer
            )
            for way in ways(found, *pair)
        ]
        several.sort(key=lambda one: (CLASSES.index(one.answer), one.technique))
        if several:
            yield Carryover(pair, tuple(several))
    if len(devices) == 1:
        only = [way.origin for way in ways(found, devices[0], devices[0])]
        rows = [Technique(one.arm.technique, one.heat.operation, one.heat.size, (one,), one.standing) for one in only]
        if rows:
            yield Carryover(tuple(devices), tuple(rows))
