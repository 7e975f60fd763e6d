"""Arithmetic with twice the bits of float64: error-free transformations, and numbers that are sums of two floats.

Only additions, subtractions, multiplications, divisions and square roots of float64 are used, which IEEE 754 requires
to be correctly rounded. So every machine gets the same bits, whatever its libraries.
"""

from __future__ import annotations

import numpy as np

UNIT = 2.0**-53
"""Unit roundoff of float64."""

_SPLITTER = 2.0**27 + 1


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the float64 sum of ``a`` and ``b`` and what its rounding lost, exactly (Knuth, TAOCP 2, 4.2.2)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the float64 product of ``a`` and ``b`` and what its rounding lost.

    Exact where neither the product nor its lost part leaves the normal range (Dekker, Numerische Mathematik 18, 1971);
    operands are below 2**996 in magnitude.
    """
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split ``x`` into two parts of at most 26 bits each (Veltkamp)."""
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


Pair = tuple[np.ndarray, np.ndarray]
"""A number as the exact sum of a float64 and a second one below half a unit of the first one's last place."""

PAIR_ERROR = 2.0**-100
"""A generous relative error of one operation on pairs, which all err by less than 2**-102."""


def add(a: Pair, b: Pair) -> Pair:
    """Return the sum of two pairs, with an error below 2**-103 of the larger one.

    (Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic",
    ACM TOMS 44, 2017, algorithm 6.)
    """
    high, lost = two_sum(a[0], b[0])
    low, rest = two_sum(a[1], b[1])
    high, lost = _fast_two_sum(high, lost + low)
    return _fast_two_sum(high, lost + rest)


def multiply(a: Pair, b: Pair) -> Pair:
    """Return the product of two pairs, with a relative error below 2**-102 (ibid., algorithm 11)."""
    high, lost = two_product(a[0], b[0])
    return _fast_two_sum(high, lost + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Pair, b: Pair) -> Pair:
    """Return the quotient of two pairs, with a relative error below 2**-101: a quotient and what it leaves over."""
    quotient = a[0] / b[0]
    product, lost = two_product(quotient, b[0])
    rest = ((a[0] - product) - lost) + (a[1] - quotient * b[1])
    return _fast_two_sum(quotient, rest / b[0])


def _fast_two_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """As two_sum, for operands of which the first is the larger one (Dekker)."""
    total = a + b
    return total, b - (total - a)
