"""Performance portability for the HTML document: all operations at a glance, and each by itself."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from reports.heat import Heat
from reports.ladder.portability import Portability, portabilities, technique


@dataclass(frozen=True)
class Portabilities:
    """Over which devices, in which paradigms, and of each operation and dtype what paradigms and techniques reach."""

    devices: tuple[str, ...]
    paradigms: tuple[str, ...]
    operations: tuple[tuple[Portability, Portability], ...]

    @classmethod
    def of(cls, heats: Sequence[Heat]) -> Portabilities:
        """Return those of ``heats``; without operations where no two devices timed the same."""
        operations = tuple(zip(portabilities(heats), portabilities(heats, technique), strict=True))
        paradigms = sorted({name for one, _ in operations for name in one.efficiencies})
        return cls(tuple(dict.fromkeys(heat.device for heat in heats)), tuple(paradigms), operations)

    @property
    def medians(self) -> tuple[float, ...]:
        """The median performance portability of each paradigm over all operations."""
        return tuple(statistics.median(one.metric(name) for one, _ in self.operations) for name in self.paradigms)
