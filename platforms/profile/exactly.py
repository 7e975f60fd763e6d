"""Rounding of exact rational numbers in every direction that hardware has: what probes hold results against."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from golden.dtypes import DType


def _half_to_even(whole: int, rest: Fraction, negative: bool) -> bool:
    return rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)


MODES: dict[str, Callable[[int, Fraction, bool], bool]] = {
    "nearest even": _half_to_even,
    "nearest away": lambda whole, rest, negative: rest >= Fraction(1, 2),
    "toward zero": lambda whole, rest, negative: False,
    "away from zero": lambda whole, rest, negative: rest > 0,
    "upward": lambda whole, rest, negative: rest > 0 and not negative,
    "downward": lambda whole, rest, negative: rest > 0 and negative,
}
"""Directions of rounding: whether a magnitude of ``whole`` units and a ``rest`` below one becomes one unit more."""


def rounded(value: Fraction, dtype: DType, mode: str) -> float:
    """Return ``value`` rounded once to ``dtype``, in a mode of :data:`MODES`; an infinity beyond its range."""
    number = rounded_to_bits(value, dtype.precision, mode, least=dtype.quantum)
    return number if abs(number) <= dtype.largest else math.copysign(math.inf, number)


def rounded_to_bits(value: Fraction, bits: int, mode: str, *, least: float = 0.0) -> float:
    """Return ``value`` rounded once to ``bits`` significand bits, and to a multiple of ``least`` at least."""
    size = abs(value)
    if not size:
        return 0.0
    unit = max(Fraction(2) ** (_exponent(size) - bits + 1), Fraction(least))
    whole, rest = divmod(size / unit, 1)
    whole += MODES[mode](int(whole), rest, value < 0)
    return math.copysign(float(whole * unit), value)


def all_rounded(values: Iterable[Fraction], dtype: DType, mode: str) -> np.ndarray:
    """Return :func:`rounded` of each value, as a vector."""
    return np.array([rounded(value, dtype, mode) for value in values])


def _exponent(size: Fraction) -> int:
    """Return the exponent of the power of two at or below a positive number."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if size >= Fraction(2) ** guess else guess - 1
