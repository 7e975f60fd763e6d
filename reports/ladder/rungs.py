"""Rungs: what each optimization brings over its base, on one device, at one size."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports.heat import Arm, Heat
from reports.ladder.classes import FASTER, OBSTACLES, SLOWER, UNRESOLVED, standing
from reports.ladder.interval import Interval, ratio

CERTAIN = 2.0
"""By which factor a single call must be slower than times that were taken properly, to be slower without doubt."""


@dataclass(frozen=True)
class Rung:
    """One optimization in one heat.

    Attributes:
        heat, arm: where it was timed, and the implementation that it made.
        gain: how many times as fast it is as its base; None where either was not timed.
        standing: faster, neutral, slower, unresolved, or an obstacle (:mod:`reports.ladder.classes`).
        reason: why it is unresolved, or what the obstacle is.
    """

    heat: Heat
    arm: Arm
    gain: Interval | None
    standing: str
    reason: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The operation and the technique."""
        return self.heat.operation, self.arm.technique

    @property
    def narrower(self) -> tuple[int, int] | None:
        """The bits that its base moves at once and those that it does, where these are fewer."""
        base = next((arm for arm in self.heat.arms if arm.name == self.arm.optimizes), None)
        known = (base.widest, self.arm.widest) if base else (0, 0)
        return known if 0 < known[1] < known[0] else None

    @property
    def seconds(self) -> float:
        """The median of its times; infinite where it was not timed."""
        return median(self.arm.seconds)


def rungs(heats: Iterable[Heat]) -> Iterator[Rung]:
    """Yield every rung of ``heats``."""
    for heat in heats:
        arms = {arm.implementation: arm for arm in heat.arms if not arm.setting}
        for arm in arms.values():
            if arm.optimizes and arm.status != "unsupported":
                yield _rung(heat, arm, arms.get(arm.optimizes))


def _rung(heat: Heat, arm: Arm, base: Arm | None) -> Rung:
    if arm.status in OBSTACLES:
        return Rung(heat, arm, None, arm.status, arm.message)
    if base is None:
        return Rung(heat, arm, None, UNRESOLVED, f"without {arm.optimizes}")
    if not (arm.seconds and base.seconds):
        return Rung(heat, arm, None, *_untimed(arm, base))
    gain = ratio(base.seconds, arm.seconds)
    found, drifted = standing(gain), drift(heat)
    if found in (FASTER, SLOWER) and abs(math.log(gain.ratio)) < math.log(drifted):
        return Rung(heat, arm, gain, UNRESOLVED, f"clock or load changed by {drifted:.2f} meanwhile")
    return Rung(heat, arm, gain, found)


def _untimed(arm: Arm, base: Arm) -> tuple[str, str]:
    """Return standing and reason where one of the two was not timed: too slow for that is slow enough to say so."""
    waited = next(one for one in (arm, base) if not one.seconds)
    other = base if waited is arm else arm
    if waited.status == "too slow" and other.seconds and waited.call > CERTAIN * median(other.seconds):
        return (SLOWER, waited.message) if waited is arm else (FASTER, f"of its base {waited.message}")
    return UNRESOLVED, f"{'' if waited is arm else 'its base: '}{waited.status}: {waited.message}"


def drift(heat: Heat) -> float:
    """Return by which factor, 1 or more, the work that is always the same took longer in one half of ``heat``."""
    half = len(heat.spins) // 2
    if not half:
        return 1.0
    change = median(heat.spins[:half]) / median(heat.spins[half:])
    return max(change, 1 / change)


def median(seconds: Sequence[float]) -> float:
    """Return the median; infinite of none."""
    return statistics.median(seconds) if seconds else math.inf


def floor(heat: Heat) -> float:
    """Return the seconds that no implementation can do without: those of the slower of the heat's floors."""
    return max((median(seconds) for seconds in heat.floors.values()), default=0.0)
