"""Arithmetic with twice the bits of float64: error-free transformations, and numbers that are sums of two floats.

Only additions, subtractions, multiplications, divisions and square roots of float64 are used, which IEEE 754 requires
to be correctly rounded. So every machine gets the same bits, whatever its libraries.

Bounds are in u = ``UNIT``. They hold while no intermediate result overflows and no part of a product underflows. The
algorithms, unless another source is named, are those of Joldes, Muller and Popescu, "Tight and rigorous error bounds
for basic building blocks of double-word arithmetic", ACM TOMS 44, 2017, and are cited by their numbers there.
"""

from __future__ import annotations

import numpy as np

UNIT = 2.0**-53
"""Unit roundoff of float64."""

Pair = tuple[np.ndarray, np.ndarray]
"""A number as the exact sum of a float64 and a second one of at most half a unit of the first one's last place."""

ADD_ERROR = 3.1 * UNIT**2
MULTIPLY_ERROR = 7 * UNIT**2
DIVIDE_ERROR = 13 * UNIT**2
ROOT_ERROR = 4 * UNIT**2
"""Relative errors of the operations on pairs are below these."""

PAIR_ERROR = 2.0**-100
"""A generous relative error of one operation on pairs: all of them err by less than 2**-102."""

_SPLITTER = 2.0**27 + 1


def two_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """Return the float64 sum of ``a`` and ``b`` and what its rounding lost, exactly (Knuth, TAOCP 2, 4.2.2)."""
    total = a + b
    part = total - a
    lost = part - total
    lost += a
    part -= b
    lost -= part  # (a - (total - part)) + (b - part), in the memory that it has already
    return total, lost


def fast_two_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """Return what two_sum does, for an ``a`` that is zero or not smaller in magnitude than ``b``.

    (Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971.)
    """
    total = a + b
    return total, b - (total - a)


def two_product(a: np.ndarray, b: np.ndarray) -> Pair:
    """Return the float64 product of ``a`` and ``b`` and what its rounding lost.

    Exact where neither the product nor its lost part leaves the normal range (Dekker, ibid.); operands are below
    2**996 in magnitude.
    """
    product = a * b
    a_high, a_low = halves(a)
    b_high, b_low = halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def halves(x: np.ndarray) -> Pair:
    """Return ``x``, below 2**996 in magnitude, as the sum of two parts of at most 26 bits each (Veltkamp)."""
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def add(a: Pair, b: Pair) -> Pair:
    """Return the sum of two pairs, with a relative error below 3u**2 + 13u**3 (algorithm 6)."""
    high, lost = two_sum(a[0], b[0])
    low, rest = two_sum(a[1], b[1])
    high, lost = fast_two_sum(high, lost + low)
    return fast_two_sum(high, lost + rest)


def multiply(a: Pair, b: Pair) -> Pair:
    """Return the product of two pairs, with a relative error below 7u**2 (algorithm 10)."""
    high, lost = two_product(a[0], b[0])
    return fast_two_sum(high, lost + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Pair, b: Pair) -> Pair:
    """Return the quotient of two pairs, with a relative error below 13u**2.

    What the quotient q of the high parts leaves over, a0 - q*b0, is a float and found exactly. In units of |q*b0| it
    and the low parts that join it are at most u each, so that the roundings of q*b1, of the two sums and of the last
    division lose 1, 2, 3 and 3 u**2, and dividing by b0 in place of b0 + b1 another 3.
    """
    quotient = a[0] / b[0]
    product, lost = two_product(quotient, b[0])
    rest = ((a[0] - product) - lost) + (a[1] - quotient * b[1])
    return fast_two_sum(quotient, rest / b[0])


def square_root(a: Pair) -> Pair:
    """Return the square root of a pair above zero, with a relative error below 25/8 u**2.

    (Lefevre, Louvet, Muller, Picot and Rideau, "Accurate calculation of Euclidean norms using double-word arithmetic",
    ACM TOMS 49, 2023.)
    """
    root = np.sqrt(a[0])
    square, lost = two_product(root, root)
    rest = ((a[0] - square) - lost) + a[1]
    return fast_two_sum(root, rest / (2 * root))
