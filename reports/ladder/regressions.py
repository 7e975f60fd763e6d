"""What an update cost: the same ladders on the same machine, now and in an older bundle.

A rung is flagged where it brings half as much as it did, or is half as fast beside the floor of its heat, which a
slower machine would move as well. A change counts if it is beyond any doubt that the intervals leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reports.heat import FLOORS, Heat
from reports.ladder.classes import UNRESOLVED
from reports.ladder.interval import Interval, ratio
from reports.ladder.rungs import Spreads, rungs, spreads

LOST = 2**0.5
"""By which factor it must have become slower at least, with certainty: half way to a half, on the scale of ratios."""


@dataclass(frozen=True)
class Regression:
    """One implementation on one case whose figure, of what, fell from one interval to the other."""

    implementation: str
    platform: str
    case: str
    what: str
    before: Interval
    after: Interval

    def __str__(self) -> str:
        change = self.before.ratio / self.after.ratio
        return (
            f"{self.implementation} on {self.platform}: {self.what} was {self.before}, is {self.after}: 1/{change:.1f}"
        )


def repeated(before: Iterable[Heat], after: Iterable[Heat]) -> Repeated:
    """Return how far two runs agree on what each rung brings, of those that both have on the same device and case.

    Each is classed by itself, knowing by how much the two differ in all.
    """
    before, after = list(before), list(after)
    between = spreads([*before, *after])
    past, now = _standings(before, between), _standings(after, between)
    pairs = {key: (past[key], now[key]) for key in sorted(past.keys() & now.keys())}
    return Repeated(
        same=sum(one == other for one, other in pairs.values()),
        open=sum(one != other and UNRESOLVED in (one, other) for one, other in pairs.values()),
        contradictions=tuple(
            f"{name} on {platform}, {case}: {one}, then {other}"
            for (_, platform, case, name), (one, other) in pairs.items()
            if one != other and UNRESOLVED not in (one, other)
        ),
    )


def _standings(heats: Iterable[Heat], between: Spreads) -> dict[tuple[str, str, str, str], str]:
    found = rungs(heats, between)
    return {(one.heat.device, one.heat.platform, one.heat.case, one.arm.name): one.standing for one in found}


Figures = dict[tuple[str, str, str, str, str], Interval]


@dataclass(frozen=True)
class Repeated:
    """How many rungs have the ``same`` standing in two runs, how many are ``open`` in one, and which contradict."""

    same: int
    open: int
    contradictions: tuple[str, ...]

    def __str__(self) -> str:
        counts = f"{self.same} stand as they did, {self.open} are unresolved in one of both"
        return f"{counts}, {len(self.contradictions)} contradict"


def regressions(before: Iterable[Heat], after: Iterable[Heat]) -> Iterator[Regression]:
    """Yield what became slower from the one to the other, of what both have on the same device and case."""
    past, now = _figures(before), _figures(after)
    for key in past.keys() & now.keys():
        _, platform, case, implementation, what = key
        if past[key].low / now[key].high > LOST:
            yield Regression(implementation, platform, case, what, past[key], now[key])


def _figures(heats: Iterable[Heat]) -> Figures:
    found: Figures = {}
    for heat in heats:

        def key(name: str, what: str, heat: Heat = heat) -> tuple[str, str, str, str, str]:
            return heat.device, heat.platform, heat.case, name, what

        floor = max((heat.floors[name] for name in FLOORS if name in heat.floors), key=sum, default=())
        for rung in rungs([heat]):
            if rung.gain:
                found[key(rung.arm.name, f"its gain over {rung.arm.optimizes}")] = rung.gain
        for arm in heat.arms:
            if arm.seconds and floor:
                found[key(arm.name, "its speed as a share of the floor")] = ratio(floor, arm.seconds)
    return found
