"""Rungs: what each optimization brings over its base, on one device, at one size."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reports.heat import Arm, Heat
from reports.ladder.classes import FASTER, MARGIN, OBSTACLES, SLOWER, UNRESOLVED, standing
from reports.ladder.interval import Interval, over_runs, ratio

CERTAIN = 2.0
"""By which factor a single call must be slower than times that were taken properly, to be slower without doubt."""

SPREAD = 0.01
"""The least by which a ratio is taken to differ from run to run, a standard deviation of its logarithm.

It is what two runs on an idle NVIDIA H200 differed by while all its units were busy. Where several runs differ by more,
that counts; one alone cannot tell.
"""

OF_MEDIAN = 1.4826
"""What the median of absolute deviations is multiplied by, to be a standard deviation: a few odd rungs do not count."""

ENOUGH = 20
"""Figures of rungs that were timed in several runs, below which nothing is said of how runs differ."""

Spreads = Mapping[tuple[str, str], float]
"""By device and size."""


@dataclass(frozen=True)
class Rung:
    """One optimization in one heat.

    Attributes:
        heat, arm: where it was timed, and the implementation that it made.
        gain: how many times as fast it is as its base; None where either was not timed.
        standing: faster, neutral, slower, unresolved, or an obstacle (:mod:`reports.ladder.classes`).
        reason: why it is unresolved, or what the obstacle is.
        runs: in how many runs it was timed; ``heat`` and ``arm`` are those of the first.
    """

    heat: Heat
    arm: Arm
    gain: Interval | None
    standing: str
    reason: str = ""
    runs: int = 0

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


def rungs(heats: Iterable[Heat], spreads: Spreads | None = None) -> Iterator[Rung]:
    """Yield every rung of ``heats``, once for all runs in which the same was timed.

    ``spreads`` is by how much runs differ, of ``heats`` themselves if that is not given.
    """
    found = _tries(heats)
    known = _spreads(found) if spreads is None else spreads
    for tries in found.values():
        yield _rung(tries, known.get(_kind(tries[0].heat), SPREAD))


def spreads(heats: Iterable[Heat]) -> Spreads:
    """Return by how much what rungs bring differs from run to run, by device and size, where that was seen."""
    return _spreads(_tries(heats))


class _Try(NamedTuple):
    """A rung in one run: its arm, and that of its base if there is one."""

    heat: Heat
    arm: Arm
    base: Arm | None

    @property
    def gain(self) -> Interval | None:
        """How many times as fast it is as its base by this run alone; None where either was not timed.

        Where clock or load changed meanwhile, what both halves of the run say is held too: rounds are taken in turns,
        so that a change by which both are slowed alike is none of their ratio.
        """
        if not (self.base and self.base.seconds and self.arm.seconds):
            return None
        found = ratio(self.base.seconds, self.arm.seconds)
        return found.holding(self._halves()) if drift(self.heat) > MARGIN else found

    def _halves(self) -> list[float]:
        base, own = np.array(self.base.seconds if self.base else ()), np.array(self.arm.seconds)
        return [float(np.exp(np.median(half))) for half in np.array_split(np.log(base / own), 2)]


def _tries(heats: Iterable[Heat]) -> dict[tuple[str, ...], list[_Try]]:
    """Return each rung in every run, by what makes it the same one."""
    found: dict[tuple[str, ...], list[_Try]] = {}
    for heat in heats:
        arms = {arm.implementation: arm for arm in heat.arms if not arm.setting}
        for arm in arms.values():
            if arm.optimizes and arm.status != "unsupported":
                key = heat.device, heat.platform, heat.case, heat.size, arm.implementation
                found.setdefault(key, []).append(_Try(heat, arm, arms.get(arm.optimizes)))
    return found


def _kind(heat: Heat) -> tuple[str, str]:
    return heat.device, heat.size


def _spreads(found: Mapping[tuple[str, ...], Sequence[_Try]]) -> Spreads:
    deviations: dict[tuple[str, str], list[float]] = {}
    for tries in found.values():
        logs = [math.log(gain.ratio) for one in tries if (gain := one.gain)]
        if len(logs) > 1:
            larger = math.sqrt(len(logs) / (len(logs) - 1))
            deviations.setdefault(_kind(tries[0].heat), []).extend(
                larger * abs(one - statistics.fmean(logs)) for one in logs
            )
    enough = {kind: those for kind, those in deviations.items() if len(those) >= ENOUGH}
    return {kind: max(SPREAD, OF_MEDIAN * statistics.median(those)) for kind, those in enough.items()}


def _rung(tries: Sequence[_Try], spread: float) -> Rung:
    """Return what a rung came to over all runs; what stood in its way in one of them is the answer."""
    for heat, arm, _ in tries:
        if arm.status in OBSTACLES:
            return Rung(heat, arm, None, arm.status, arm.message)
    timed = [(one, gain) for one in tries if (gain := one.gain)]
    if not timed:
        heat, arm, base = tries[-1]
        return Rung(heat, arm, None, *(_untimed(arm, base) if base else (UNRESOLVED, f"without {arm.optimizes}")))
    gain = over_runs([gain for _, gain in timed], spread)
    found = standing(gain)
    drifted = max(drift(one.heat) for one, _ in timed)
    changed = found == UNRESOLVED and drifted > MARGIN
    why = f"clock or load changed by {drifted:.2f} meanwhile" if changed else ""
    heat, arm, _ = timed[0][0]
    return Rung(heat, arm, gain, found, why, len(timed))


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
