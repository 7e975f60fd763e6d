"""Is arithmetic on pairs of floats what plain fractions say, within the error that each operation states?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.doubled import (
    ADD_ERROR,
    DIVIDE_ERROR,
    MULTIPLY_ERROR,
    ROOT_ERROR,
    UNIT,
    Pair,
    add,
    divide,
    fast_two_sum,
    halves,
    multiply,
    square_root,
    two_product,
    two_sum,
)

MIDDLING = st.floats(2.0**-400, 2.0**400) | st.floats(1, 2)
SIGNED = st.tuples(MIDDLING, st.sampled_from([1.0, -1.0])).map(lambda parts: parts[0] * parts[1])
SHARE = st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0])


def pair(high: float, share: float) -> Pair:
    """Return a pair whose second float is a ``share`` of half a unit of the last place of the first."""
    value, low = two_sum(np.float64(high), np.float64(share * UNIT * abs(high)))
    return value, low


def exact(number: Pair) -> Fraction:
    return Fraction(float(number[0])) + Fraction(float(number[1]))


PAIRS = st.builds(pair, SIGNED, SHARE)
POSITIVE = st.builds(pair, MIDDLING, SHARE)


@given(SIGNED, SIGNED)
def test_transformations_lose_nothing(a: float, b: float) -> None:
    x, y = np.float64(a), np.float64(b)
    larger, smaller = (x, y) if abs(a) >= abs(b) else (y, x)
    assert exact(two_sum(x, y)) == Fraction(a) + Fraction(b)
    assert exact(fast_two_sum(larger, smaller)) == Fraction(a) + Fraction(b)
    if abs(Fraction(a) * Fraction(b)) > Fraction(2) ** -900:
        product = two_product(x, y)
        assert product[0] == a * b
        assert exact(product) == Fraction(a) * Fraction(b)


@given(SIGNED)
def test_halves_have_26_bits_each(x: float) -> None:
    high, low = halves(np.float64(x))
    assert exact((high, low)) == Fraction(x)
    for half in (high, low):
        mantissa = abs(Fraction(float(half)).numerator)
        assert (mantissa // (mantissa & -mantissa or 1)).bit_length() <= 26


@pytest.mark.parametrize(
    ("operation", "truth", "error"),
    [
        (add, lambda a, b: a + b, ADD_ERROR),
        (multiply, lambda a, b: a * b, MULTIPLY_ERROR),
        (divide, lambda a, b: a / b, DIVIDE_ERROR),
    ],
)
@given(PAIRS, PAIRS)
def test_an_operation_errs_by_less_than_it_states(
    operation: Callable[[Pair, Pair], Pair],
    truth: Callable[[Fraction, Fraction], Fraction],
    error: float,
    a: Pair,
    b: Pair,
) -> None:
    result, true = operation(a, b), truth(exact(a), exact(b))
    if abs(true) < Fraction(2) ** -850:  # parts of a product underflow
        return
    assert abs(exact(result) - true) <= Fraction(error) * abs(true)
    assert result[0] == result[0] + result[1]


@given(PAIRS, st.floats(-4, 4))
def test_a_sum_that_cancels_is_as_accurate(a: Pair, share: float) -> None:
    b = -a[0] * (1 + 4 * share * UNIT), a[1] * share
    b = two_sum(np.float64(b[0]), np.float64(b[1]))
    assert abs(exact(add(a, b)) - exact(a) - exact(b)) <= Fraction(ADD_ERROR) * abs(exact(a) + exact(b))


@given(POSITIVE)
def test_a_square_root_errs_by_less_than_it_states(a: Pair) -> None:
    root = exact(square_root(a))
    # The square of (1 + e) times the root is within 2e and a little of the number.
    assert abs(root * root / exact(a) - 1) <= Fraction(2 * ROOT_ERROR)


def test_arrays_are_worked_on_element_by_element() -> None:
    a = two_sum(np.array([1.0, 2.0, 3.0]), np.array([2.0**-60, 0.0, -(2.0**-70)]))
    b = two_sum(np.array([3.0, 7.0, 0.1]), np.zeros(3))
    for operation in (add, multiply, divide):
        whole = operation(a, b)
        for i in range(3):
            single = operation((a[0][i], a[1][i]), (b[0][i], b[1][i]))
            assert (whole[0][i], whole[1][i]) == single
