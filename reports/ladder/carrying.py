"""What became of each technique between two devices: one answer for each operation that uses it on both.

The same implementation is compared with itself where it runs on both; else, on each device, the paradigm in which the
technique made the fastest kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports.heat import SIZES
from reports.ladder.classes import UNRESOLVED, carried
from reports.ladder.rungs import Rung


@dataclass(frozen=True)
class Way:
    """A technique on the way from one device to another: the rungs there, what it came to, and at which size."""

    origin: Rung
    target: Rung
    size: str
    answer: str


def ways(rungs: Iterable[Rung], origin: str, target: str) -> Iterator[Way]:
    """Yield the way of each technique and operation that was timed on both devices, as these call themselves."""
    here, there = ({}, {})  # type: tuple[dict[tuple[str, str], list[Rung]], dict[tuple[str, str], list[Rung]]]
    for rung in rungs:
        for known, device in ((here, origin), (there, target)):
            if rung.heat.device == device:
                known.setdefault(rung.key, []).append(rung)
    for key in sorted(here.keys() & there.keys()):
        yield _way(here[key], there[key])


def _way(here: Sequence[Rung], there: Sequence[Rung]) -> Way:
    """Return the answer at the largest size at which there is one."""
    found = [_at(size, here, there) for size in reversed(SIZES)]
    known = [one for one in found if one]
    return next((one for one in known if one.answer != UNRESOLVED), known[0])


def _at(size: str, here: Sequence[Rung], there: Sequence[Rung]) -> Way | None:
    pairs = [(one, other) for one in here for other in there if one.heat.size == other.heat.size == size]
    if not pairs:
        return None
    one, other = min(pairs, key=_preference)
    return Way(one, other, size, carried(one.standing, other.standing))


def _preference(pair: tuple[Rung, Rung]) -> tuple[bool, bool, float, float]:
    """Sort pairs of the same implementation first, then those of one dtype, then the fastest."""
    one, other = pair
    same = one.arm.implementation == other.arm.implementation
    return not same, one.heat.dtype != other.heat.dtype, one.seconds, other.seconds
