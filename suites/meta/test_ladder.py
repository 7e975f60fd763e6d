"""Intervals and classes of timings: held against known values, and against drawn timings whose truth is known."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from reports.ladder.classes import CLASSES, MARGIN, OBSTACLES, carried, standing
from reports.ladder.interval import CONFIDENCE, Interval, ratio

TRIALS = 60


def timings(
    rng: np.random.Generator, truth: float, *, rounds: int = 20, noise: float = 0.05
) -> tuple[list[float], ...]:
    """Return seconds of a base and of what is ``truth`` times as fast, under a load that both share and clocks fall."""
    load = np.exp(np.cumsum(rng.normal(0, 0.05, rounds)) + np.linspace(0, 0.3, rounds))
    base, other = (1e-3 * load * np.exp(rng.normal(0, noise, rounds)) for _ in range(2))
    return base.tolist(), (other / truth).tolist()


def test_ratio_of_exact_multiples() -> None:
    base = [3.0, 1.0, 7.0, 2.0, 5.0]
    found = ratio(base, [one / 3 for one in base])
    assert (found.ratio, found.low, found.high) == pytest.approx((3.0, 3.0, 3.0))
    assert ratio(base, base) == Interval(1.0, 1.0, 1.0)


def test_ratio_is_the_median_of_rounds() -> None:
    base, other = [2.0, 4.0, 6.0, 8.0, 100.0], [1.0, 1.0, 2.0, 1.0, 1.0]
    found = ratio(base, other)  # 2, 4, 3, 8, 100
    assert found.ratio == pytest.approx(4.0)
    assert (found.low, found.high) == pytest.approx((2.0, 100.0))  # of five rounds any may be the median


def test_ratio_of_one_disturbed_round() -> None:
    base = [1.0] * 40
    found = ratio(base, [0.5] * 39 + [50.0])
    assert found == Interval(2.0, 2.0, 2.0)


def test_ratio_is_reproducible_and_inverts() -> None:
    base, other = timings(np.random.default_rng(3), 1.4)
    found = ratio(base, other)
    assert found == ratio(base, other)
    back = ratio(other, base).inverse()
    assert (back.ratio, back.low, back.high) == pytest.approx((found.ratio, found.low, found.high), rel=1e-2)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_ratio_refuses_what_is_no_time(bad: float) -> None:
    with pytest.raises(ValueError, match=rf"round 2 of other took {bad} s; a time is positive and finite"):
        ratio([1.0] * 6, [1.0, 1.0, bad, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("base", "other"), [(4, 4), (6, 7), (0, 0)])
def test_ratio_refuses_too_few_rounds(base: int, other: int) -> None:
    with pytest.raises(ValueError, match="needs 5 rounds or more of both"):
        ratio([1.0] * base, [1.0] * other)


@pytest.mark.parametrize("rounds", [7, 20])
@pytest.mark.parametrize("truth", [0.5, 1.0, 1.3])
def test_interval_holds_the_truth(rounds: int, truth: float) -> None:
    """As often as it promises: three deviations of chance below is too seldom, and always is too wide."""
    rng = np.random.default_rng([rounds, int(100 * truth)])
    found = [ratio(*timings(rng, truth, rounds=rounds)) for _ in range(TRIALS)]
    held = sum(one.low <= truth <= one.high for one in found)
    chance = 3 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / TRIALS)
    assert CONFIDENCE - chance <= held / TRIALS < 1
    assert np.mean([one.high / one.low for one in found]) < (1.3 if rounds == 7 else 1.15)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.06, 1.2, "faster"),
        (1.04, 1.2, "unresolved"),
        (0.9, 1.1, "unresolved"),
        (0.97, 1.03, "neutral"),
        (1.01, 1.04, "neutral"),
        (0.9, 0.96, "unresolved"),
        (0.5, 0.9, "slower"),
    ],
)
def test_standing(low: float, high: float, expected: str) -> None:
    assert standing(Interval(math.sqrt(low * high), low, high)) == expected
    mirrored = {"faster": "slower", "slower": "faster"}.get(expected, expected)
    assert standing(Interval(math.sqrt(low * high), low, high).inverse()) == mirrored


@pytest.mark.parametrize(("truth", "right"), [(1.5, "faster"), (1.0, "neutral"), (0.6, "slower")])
def test_standing_of_drawn_timings(truth: float, right: str) -> None:
    """Nearly all that is clear is found, and next to nothing is called what it is not."""
    rng = np.random.default_rng(int(100 * truth))
    found = Counter(standing(ratio(*timings(rng, truth, rounds=40, noise=0.02))) for _ in range(TRIALS))
    assert found[right] > 0.9 * TRIALS
    assert set(found) <= {right, "unresolved"}


@pytest.mark.parametrize("truth", [MARGIN, 1 / MARGIN])
def test_standing_on_the_border(truth: float) -> None:
    """What is as large as the margin is seldom called either: two runs do not contradict each other."""
    rng = np.random.default_rng(5)
    found = Counter(standing(ratio(*timings(rng, truth, noise=0.02))) for _ in range(TRIALS))
    assert found["unresolved"] > 0.9 * TRIALS


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ("faster", "faster", "carries over"),
        ("faster", "neutral", "neutral"),
        ("faster", "slower", "reversed"),
        ("slower", "faster", "reversed"),
        ("neutral", "faster", "gained"),
        ("neutral", "neutral", "neutral"),
        ("slower", "neutral", "neutral"),
        ("neutral", "slower", "slower"),
        ("slower", "slower", "slower"),
        ("faster", "unresolved", "unresolved"),
        ("unresolved", "faster", "unresolved"),
        ("faster", "wrong", "wrong"),
        ("unresolved", "does not compile", "does not compile"),
        ("slower", "does not fit", "does not fit"),
        ("does not fit", "faster", "unresolved"),
    ],
)
def test_carried(here: str, there: str, expected: str) -> None:
    assert carried(here, there) == expected


def test_every_pair_of_standings_has_a_class() -> None:
    standings = ("faster", "neutral", "slower", "unresolved", *OBSTACLES)
    assert {carried(here, there) for here in standings for there in standings} == set(CLASSES)
