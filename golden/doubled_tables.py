"""Constants and tables of the doubled functions, computed from integers when they are first needed.

Numbers are integers in units of 2**-BITS. Each is off by a few thousand units at most, far below the last bit of a pair
of floats, and is rounded once when the floats are made of it. No floating-point function is involved, so the tables are
the same on every machine.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from golden.doubled import UNIT, Pair, fast_two_sum, two_product, two_sum

BITS = 192
ONE = 1 << BITS

STEPS = 1024
"""Powers of two in the table of exponentials."""

LOG_STEPS = 2048
"""Intervals of one binade in the table of logarithms."""

LOG_WIDTH = 52 - 11
"""Bits of a float's code within one of those."""

LOG_OFFSET = (1023 << 52) - (1200 << LOG_WIDTH) - (1 << LOG_WIDTH - 1)
"""The code of the float, about 1/sqrt(2), where the first one begins; 1 is the middle of another."""

NEAR_SPACING, NEAR_LAST = 1024, 256
"""Points of a unit in the table of the exponential less 1, and the last one, at 1/4."""

TURN_SPACING, TURN_LAST, ERF_LAST = 512, 404, 4224
"""Points of a unit in the tables of sine, cosine and error function, and the last ones: beyond pi/4, and at 8.25."""

ERFCX_STEPS, ERFCX_FIRST, ERFCX_LAST = 512, 0.5, 28.0
"""Intervals of a binade in the table of the scaled complementary error function, and where it begins and ends."""

ERFCX_WIDTH = 52 - 9
"""Bits of a float's code within one of those."""

_MOST, _WALK = 13, 24
"""Coefficients of which a table keeps as many as it needs, and those with which one point follows from another."""


class Powers(NamedTuple):
    """2**(i/STEPS) as ``head``, a multiple of 2**-26, and ``rest``."""

    head: np.ndarray
    rest: np.ndarray


class Logarithms(NamedTuple):
    """For each interval a ``reciprocal`` of its middle, of 14 bits, and minus its logarithm, of 41 bits and a rest."""

    reciprocal: np.ndarray
    head: np.ndarray
    rest: np.ndarray


@dataclass(frozen=True)
class Expansions:
    """Taylor expansions of one function about many points, three coefficients as pairs and the others as floats.

    ``error`` bounds the relative error around each point. It adds up, h being as large as it may be and f_k the
    coefficients,

    - the terms from the third power on, which are floats: (11 + 3(k-3)) u |f_k| h**k for the roundings of the
      coefficient, of the powers of h and of the sums, and for taking h as a float;
    - the pairs: less than 32 u**2 of |f_0| + |f_1| h + |f_2| h**2;
    - the terms that are left out: less than twice the first of them,

    relative to the least magnitude of the function there, or to |f_1| h where f_0 is zero. The sum is taken twice, as
    a margin.
    """

    pairs: tuple[Pair, Pair, Pair]
    others: tuple[np.ndarray, ...]
    error: np.ndarray

    @classmethod
    def of(cls, rows: list[list[int]], reach: np.ndarray | float) -> Expansions:
        """Return the expansions whose coefficients are ``rows``, for |h| up to ``reach`` (of each row)."""
        columns = list(zip(*rows, strict=True))
        sizes, power = [], np.ones(len(rows))
        for column in columns:
            sizes.append(np.abs(floats(column)) * power)
            power = power * reach
        least = np.where(sizes[0] > 0, sizes[0] - 1.01 * sizes[1], 0.99 * sizes[1])
        terms = next(order for order, size in enumerate(sizes) if (size < least * UNIT * 2.0**-33).all())
        error = 32 * UNIT**2 * (sizes[0] + sizes[1] + sizes[2]) + 2 * sizes[terms]
        for order in range(3, terms):
            error += (11 + 3 * (order - 3)) * UNIT * sizes[order]
        first, second, third = (pairs(column) for column in columns[:3])
        return cls((first, second, third), tuple(floats(column) for column in columns[3:terms]), 2 * error / least)

    def evaluate(self, index: np.ndarray, h: Pair) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the function at h from the points ``index``: value, tail and a bound of the relative error."""
        zeroth, first, second = ((high.take(index), low.take(index)) for high, low in self.pairs)
        small = self.others[-1].take(index)
        for column in self.others[-2::-1]:
            small = column.take(index) + h[0] * small
        slope, low = two_product(second[0], h[0])
        low += second[0] * h[1] + second[1] * h[0]
        slope, lost = two_sum(first[0], slope)
        lost += first[1] + low
        steep, low = two_product(slope, h[0])
        low += slope * h[1] + lost * h[0]
        value, rest = two_sum(zeroth[0], steep)
        rest += zeroth[1] + (low + h[0] * h[0] * h[0] * small)
        return (*fast_two_sum(value, rest), self.error.take(index))


def fixed(x: float) -> int:
    """Return a float in units of 2**-BITS, rounded down if it is no multiple of that."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * ONE // denominator


def floats(numbers: Sequence[int]) -> np.ndarray:
    """Return numbers rounded to floats; the division of two integers is rounded correctly."""
    return np.array([number / ONE for number in numbers])


def pair(number: int) -> tuple[float, float]:
    """Return a number as a pair of floats."""
    high = number / ONE
    return high, (number - fixed(high)) / ONE


def pairs(numbers: Sequence[int]) -> Pair:
    """Return numbers as pairs of floats."""
    high, low = zip(*(pair(number) for number in numbers), strict=True)
    return np.array(high), np.array(low)


def head(number: int, places: int) -> float:
    """Return the multiple of 2**-places that is nearest to a number."""
    return ((number >> (BITS - places - 1)) + 1 >> 1) / (1 << places)


def parts(number: int, *places: int) -> tuple[float, ...]:
    """Return a number as a sum: multiples of 2**-places for each of ``places``, and what is left."""
    found = []
    for one in places:
        found.append(head(number, one))
        number -= fixed(found[-1])
    return (*found, number / ONE)


def product(a: int, b: int) -> int:
    """Return the product of two numbers."""
    return a * b >> BITS


@functools.cache
def pi(bits: int = BITS) -> int:
    """Return pi in units of 2**-bits: 16 arctan(1/5) - 4 arctan(1/239) (Machin)."""
    guard = 32
    return 16 * _arc(5, -1, bits + guard) - 4 * _arc(239, -1, bits + guard) >> guard


@functools.cache
def log2() -> int:
    """Return the natural logarithm of 2: twice the inverse hyperbolic tangent of 1/3."""
    return 2 * _arc(3, 1)


def _arc(n: int, sign: int, bits: int = BITS) -> int:
    """Return the inverse tangent (sign -1) or inverse hyperbolic tangent (sign 1) of 1/n."""
    power, square, total, order = (1 << bits) // n, n * n, 0, 1
    while power:
        total += (sign if order % 4 == 3 else 1) * (power // order)
        power //= square
        order += 2
    return total


def _exp(x: int) -> int:
    """Return the exponential of a number of small magnitude."""
    term = total = ONE
    order = 1
    while term not in (0, -1):
        term = product(term, x) // order
        total += term
        order += 1
    return total


@functools.cache
def powers() -> Powers:
    """Return the table of 2**(i/STEPS) for i from 0 to STEPS - 1."""
    step, number, rows = _exp(log2() // STEPS), ONE, []
    for _ in range(STEPS):
        rows.append(parts(number, 26))
        number = product(number, step)
    heads, rests = zip(*rows, strict=True)
    return Powers(np.array(heads), np.array(rests))


@functools.cache
def logarithms() -> Logarithms:
    """Return the table of the LOG_STEPS intervals from about 1/sqrt(2) to sqrt(2), the middle one about 1."""
    of_whole = {8192: 0}
    for whole in range(8192, 12000):  # log(n + 1) - log(n) is twice the inverse hyperbolic tangent of 1/(2n + 1)
        of_whole[whole + 1] = of_whole[whole] + 2 * _arc(2 * whole + 1, 1)
    for whole in range(8192, 5700, -1):
        of_whole[whole - 1] = of_whole[whole] - 2 * _arc(2 * whole - 1, 1)
    reciprocals = [round(8192 / middle) for middle in _middles()]
    rows = [parts(-of_whole[whole], 41) for whole in reciprocals]
    heads, rests = zip(*rows, strict=True)
    return Logarithms(np.array(reciprocals) / 8192, np.array(heads), np.array(rests))


def _middles() -> list[float]:
    codes = LOG_OFFSET + (np.arange(LOG_STEPS, dtype=np.int64) << LOG_WIDTH) + (1 << LOG_WIDTH - 1)
    return codes.view(np.float64).tolist()


@functools.cache
def near_zero() -> Expansions:
    """Return the expansions of exp(x) - 1 about i/NEAR_SPACING for i from -NEAR_LAST to NEAR_LAST."""
    up, down = [ONE], [ONE]
    for step, found in ((_exp(ONE // NEAR_SPACING), up), (_exp(-ONE // NEAR_SPACING), down)):
        for _ in range(NEAR_LAST):
            found.append(product(found[-1], step))
    rows = [[power - ONE, *_over_factorials([power] * _MOST)] for power in down[:0:-1] + up]
    return Expansions.of(rows, 0.501 / NEAR_SPACING)


@functools.cache
def turns() -> Expansions:
    """Return the expansions of the sine about i/TURN_SPACING for i from -TURN_LAST to TURN_LAST, then the cosine's."""
    sine_step, cosine_step = _sine_and_cosine(ONE // TURN_SPACING)
    sines, cosines = [0], [ONE]
    for _ in range(TURN_LAST):
        sine, cosine = sines[-1], cosines[-1]
        sines.append(product(sine, cosine_step) + product(cosine, sine_step))
        cosines.append(product(cosine, cosine_step) - product(sine, sine_step))
    sines = [-sine for sine in sines[:0:-1]] + sines
    cosines = cosines[:0:-1] + cosines
    rows = [_turning(sine, cosine) for sine, cosine in zip(sines, cosines, strict=True)]
    rows += [_turning(cosine, -sine) for sine, cosine in zip(sines, cosines, strict=True)]
    return Expansions.of(rows, 0.501 / TURN_SPACING)


def _turning(value: int, slope: int) -> list[int]:
    return [value, *_over_factorials([slope, -value, -slope, value] * 4)]


def _sine_and_cosine(x: int) -> tuple[int, int]:
    """Return sine and cosine of a number of small magnitude."""
    totals, term, order = [0, 0], ONE, 0
    while term:
        totals[order % 2] += term if order % 4 < 2 else -term
        order += 1
        term = product(term, x) // order
    return totals[1], totals[0]


def _over_factorials(derivatives: list[int]) -> list[int]:
    """Return the coefficients from the first on, of derivatives from the first on."""
    found, factorial = [], 1
    for order, derivative in enumerate(derivatives[: _MOST - 1], 1):
        factorial *= order
        found.append(derivative // factorial)
    return found


@functools.cache
def erfs() -> Expansions:
    """Return the expansions of the error function about i/TURN_SPACING for i from 0 to ERF_LAST."""
    step = ONE // TURN_SPACING
    bell, value = erf_slope(), 0
    factor, change = _exp(-product(step, step)), _exp(-2 * product(step, step))
    rows = []
    for point in range(ERF_LAST + 1):
        row = [value, *_of_bell(bell, point * step)]
        rows.append(row[:_MOST])
        value = sum(number >> order * (TURN_SPACING.bit_length() - 1) for order, number in enumerate(row))
        bell, factor = product(bell, factor), product(factor, change)
    return Expansions.of(rows, 0.501 / TURN_SPACING)


@functools.cache
def erf_slope() -> int:
    """Return the slope of the error function at 0, 2/sqrt(pi)."""
    return 2 * ONE * ONE // math.isqrt(pi() * ONE)


def _of_bell(bell: int, x: int) -> list[int]:
    """Return the coefficients of the error function from the first on; its slope g obeys g' = -2 x g."""
    before, found = 0, [bell]
    for order in range(1, _WALK):
        before, bell = bell, -2 * (product(x, bell) + before) // order
        found.append(bell // (order + 1))
    return found


@functools.cache
def scaled_erfcs() -> Expansions:
    """Return the expansions of exp(x*x) erfc(x) about the middles of ERFCX_STEPS intervals of each binade.

    From beyond the last point, where the asymptotic series has all digits, down to the first; errors shrink on the way.
    """
    first, last = (code >> ERFCX_WIDTH for code in np.array([ERFCX_FIRST, ERFCX_LAST]).view(np.int64))
    middles = ((np.arange(first, last) << ERFCX_WIDTH) + (1 << ERFCX_WIDTH - 1)).view(np.float64)
    points = [fixed(x) for x in middles.tolist()]
    value, rows = _asymptotic(points[-1]), []
    for point, after in zip(points[::-1], [*points[-2::-1], points[0]], strict=True):
        row = _of_scaled(value, point)
        rows.append(row[:_MOST])
        value = 0
        for number in row[::-1]:
            value = number + product(value, after - point)
    binades = (middles.view(np.int64) >> 52 << 52).view(np.float64)
    return Expansions.of(rows[::-1], 0.501 / ERFCX_STEPS * binades)


def _of_scaled(value: int, x: int) -> list[int]:
    """Return the coefficients of the scaled complementary error function y, which obeys y' = 2 x y - 2/sqrt(pi)."""
    before, now = value, 2 * product(x, value) - erf_slope()
    found = [before, now]
    for order in range(2, _WALK):
        before, now = now, 2 * (product(x, now) + before) // order
        found.append(now)
    return found


def _asymptotic(x: int) -> int:
    """Return the scaled complementary error function far out (Abramowitz and Stegun, 7.1.23)."""
    term, total, order = ONE, 0, 0
    while term not in (0, -1):
        total += term
        order += 1
        term = -(2 * order - 1) * term * ONE * ONE // (2 * x * x)
    return total * erf_slope() // (2 * x)
