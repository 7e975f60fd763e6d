"""Do the step functions of enclosures jump where, and only where, an argument may be on the other side of a step?"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import enclosure
from golden.dtypes import FLOAT8S, decode
from golden.enclosure import Enclosure
from golden.enclosure.array import rows
from golden.precision import Precision

SINGLE = Precision("float32")


def nearest_code(dtype: str) -> Callable[[Fraction], Fraction]:
    numbers = decode(np.arange(256, dtype=np.uint8), dtype)
    known = sorted((Fraction(float(number)), code) for code, number in enumerate(numbers) if np.isfinite(number))

    def nearest(x: Fraction) -> Fraction:
        return min(known, key=lambda one: (abs(one[0] - x), one[1] % 2))[0]

    return nearest


STEPS: dict[str, tuple[Callable[[Any], Any], Callable[[Fraction], Any]]] = {
    "floor": (enclosure.floor, math.floor),
    "nearest integer": (enclosure.nearest_integer, round),
    **{dtype: (functools.partial(enclosure.nearest_in, dtype=dtype), nearest_code(dtype)) for dtype in FLOAT8S},
}

NUMBERS = st.floats(-400, 400) | st.integers(-800, 800).map(lambda number: number / 2)
BOUNDS = st.sampled_from([0.0, 2.0**-60, 1e-9, 1e-3, 0.5, 3.0])


def off_by(x: float, *, radius: float, hard: float, noise: float = 0.0, bias: float = 0.0) -> Enclosure:
    return Enclosure(np.array([x]), SINGLE, errors=rows((1,), radius=radius, hard=hard, noise=noise, bias=bias))


@pytest.mark.parametrize("name", STEPS)
@given(NUMBERS, BOUNDS, BOUNDS, st.floats(-1, 1), st.floats(-1, 1))
def test_no_argument_within_reach_gives_more_than_the_bound(
    name: str, x: float, radius: float, hard: float, true: float, computed: float
) -> None:
    step, exact = STEPS[name]
    result = step(off_by(x, radius=radius, hard=hard))
    argument = Fraction(x) + Fraction(true) * Fraction(radius)
    theirs = argument + Fraction(computed) * Fraction(hard)
    value = Fraction(float(result.value[0]))
    assert abs(exact(argument) - value) <= Fraction(float(result.radius[0]))
    assert abs(exact(theirs) - value) <= Fraction(float(result.hard[0]))


@pytest.mark.parametrize("name", STEPS)
@given(NUMBERS, BOUNDS, BOUNDS)
def test_there_is_no_bound_without_a_step_within_reach(name: str, x: float, radius: float, hard: float) -> None:
    step, exact = STEPS[name]
    result = step(off_by(x, radius=radius, hard=hard))
    reach = (Fraction(radius) + Fraction(hard)) * (1 + Fraction(1, 2**50)) + Fraction(1, 2**43)
    if exact(Fraction(x) - reach) == exact(Fraction(x) + reach):
        assert result.hard[0] == result.radius[0] == result.drift[0] == 0


@pytest.mark.parametrize("name", STEPS)
@given(NUMBERS)
def test_a_step_of_an_exact_argument_is_exact(name: str, x: float) -> None:
    step, exact = STEPS[name]
    result = step(Enclosure(np.array([x]), SINGLE))
    assert result.is_exact
    assert Fraction(float(result.value[0])) == exact(Fraction(x))
    assert step(np.array([x]))[0] == result.value[0]


def test_drift_is_a_jump_that_a_good_implementation_may_make() -> None:
    near, far = (enclosure.floor(off_by(3.0 + away, radius=0, hard=1e-3, noise=1e-5)) for away in (1e-5, 1e-4))
    assert (near.drift[0], near.hard[0]) == (1, 1)
    assert (far.drift[0], far.hard[0]) == (0, 1)


def test_a_tail_across_a_step_makes_the_result_uncertain() -> None:
    doubled = Precision("float64")
    result = enclosure.floor(Enclosure(np.array([3.0, 3.5]), doubled, tail=np.array([-1e-20, -1e-20])))
    assert result.radius.tolist() == [1, 0]
    assert result.value.tolist() == [3, 3]


def test_special_and_open_arguments_stay_what_they_are() -> None:
    x = Enclosure(np.array([np.inf, -np.inf, np.nan, 1.5]), SINGLE, errors=rows((4,), hard=np.inf, bias=np.inf))
    result = enclosure.nearest_integer(x)
    assert np.isinf(result.hard).all()
    exact = enclosure.nearest_integer(Enclosure(np.array([np.inf, -np.inf, np.nan, -0.5]), SINGLE))
    np.testing.assert_array_equal(exact.value, [np.inf, -np.inf, np.nan, 0])
