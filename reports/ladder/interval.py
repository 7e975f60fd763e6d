"""How many times as fast: the ratio of two timings that were taken in turns, and how well it is known.

Round for round both were timed under the same clocks and load, so that the ratio of a round is steadier than either
time; the median of these ratios is the figure. Its interval is a bootstrap over rounds. Load comes and goes in bursts,
so that blocks of neighbouring rounds are drawn and not single ones (the circular block bootstrap; Politis and Romano,
"A circular block-resampling procedure for stationary data", 1992), and there are few of them, so that the quantiles lie
further out (the expanded percentile interval; Hesterberg, "What Teachers Should Know About the Bootstrap", 2015).

What rounds of one run cannot tell is what another run would say, whose process has its tensors and its code elsewhere
in memory, and its clocks set otherwise. :func:`over_runs` has that in its interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
"""How often the true ratio lies within the interval."""

RESAMPLES = 2000
"""Samples of the bootstrap: the ends of the interval then move by far less than its width from seed to seed."""

FURTHEST = 1.5
"""By how many of its half intervals a run may be off, three standard deviations, before it is said to disagree."""

LEAST_ROUNDS = 5
"""With fewer rounds the interval of a median would be the range of the data, and too narrow even so."""


@dataclass(frozen=True)
class Interval:
    """A ratio, and the ends of the interval that holds the true one with :data:`CONFIDENCE`."""

    ratio: float
    low: float
    high: float

    def inverse(self) -> Interval:
        """Return the interval of the ratio the other way round."""
        return Interval(1 / self.ratio, 1 / self.high, 1 / self.low)

    def holding(self, others: Iterable[float]) -> Interval:
        """Return this interval, as wide as it takes to hold ``others`` too."""
        ends = (self.low, self.high, *others)
        return Interval(self.ratio, min(ends), max(ends))

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f}-{self.high:.2f})"


def ratio(base: Sequence[float], other: Sequence[float]) -> Interval:
    """Return how many times as fast ``other`` is as ``base``: seconds of the same rounds, in order.

    The result depends on the data alone. Raises ValueError unless there are as many of one as of the other, at least
    :data:`LEAST_ROUNDS`, all positive and finite.
    """
    if len(base) != len(other) or len(base) < LEAST_ROUNDS:
        raise ValueError(f"a ratio needs {LEAST_ROUNDS} rounds or more of both; there are {len(base)} and {len(other)}")
    for name, seconds in (("base", base), ("other", other)):
        for number, one in enumerate(seconds):
            if not (math.isfinite(one) and one > 0):
                raise ValueError(f"round {number} of {name} took {one} s; a time is positive and finite")
    logs = np.log(base) - np.log(other)
    length = round(len(logs) ** (1 / 3))
    drawn = np.median(logs[_blocks(len(logs), length)], axis=1)
    tail = _expanded_tail(len(logs) / length)
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Interval(*(float(np.exp(one)) for one in (np.median(logs), low, high)))


def over_runs(runs: Sequence[Interval], spread: float) -> Interval:
    """Return what ``runs`` say together: intervals of one ratio, each of the rounds of one run.

    ``spread`` is the standard deviation by which logarithms of a ratio differ from run to run, whatever the rounds. The
    figure is the median over runs, and its interval has both spreads in it. It holds the figure of a run too that is
    further off than both account for: where one run says otherwise, what is true of the next is open.
    """
    between = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * spread
    middle = statistics.median(math.log(one.ratio) for one in runs)
    down = [math.hypot(math.log(one.ratio / one.low), between) for one in runs]
    up = [math.hypot(math.log(one.high / one.ratio), between) for one in runs]
    low, high = middle - math.hypot(*down) / len(runs), middle + math.hypot(*up) / len(runs)
    off = [
        one.ratio
        for one, below, above in zip(runs, down, up, strict=True)
        if not middle - FURTHEST * below <= math.log(one.ratio) <= middle + FURTHEST * above
    ]
    return Interval(math.exp(middle), math.exp(low), math.exp(high)).holding(off)


def _blocks(rounds: int, length: int) -> np.ndarray:
    """Return the rounds of each resample: blocks of ``length`` neighbours, as many as make up all ``rounds``."""
    starts = np.random.default_rng(0).integers(rounds, size=(RESAMPLES, -(-rounds // length), 1))
    return ((starts + np.arange(length)) % rounds).reshape(RESAMPLES, -1)[:, :rounds]


def _expanded_tail(blocks: float) -> float:
    """Return the share of resamples beyond either end of the interval, of so many independent ``blocks``.

    Student's quantile in the place of the normal one, by the first terms of its expansion (Abramowitz and Stegun,
    26.7.5), and the root of n / (n - 1) by which a sample's spread falls short.
    """
    normal, freedom = NormalDist(), blocks - 1
    z = normal.inv_cdf((1 + CONFIDENCE) / 2)
    student = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return normal.cdf(-student * math.sqrt(blocks / freedom))
