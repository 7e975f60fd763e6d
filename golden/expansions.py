"""Elementary functions with twice the bits of float64, from tables of Taylor expansions.

A table holds, at points 1/64 apart, the coefficients of a function's expansion about each. They are computed when the
table is first used, with Python's decimal arithmetic to 60 digits. An argument is split into the nearest point and a
rest h below 2**-7; the first three terms are summed as pairs of floats, the others, which are small, as floats. All of
it is arithmetic that IEEE 754 fixes to the bit, so every machine gets the same results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

import numpy as np

from golden.doubled import PAIR_ERROR, UNIT, Pair, add, divide, multiply, two_product, two_sum

Result = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Value, tail and radius."""

SPACING = 64
_TERMS = 12
_DIGITS = Context(prec=60)
_TINY = 2.0**-1060
"""What underflowing parts of products may lose in all."""

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899863")


@dataclass(frozen=True)
class Table:
    """Coefficients by term and point: three pairs, then floats. ``third`` bounds the sum of the others' magnitudes.

    ``rest`` bounds the terms that are left out, as a share of the cube of h.
    """

    first: int
    pairs: list[tuple[np.ndarray, np.ndarray]]
    others: list[np.ndarray]
    third: float
    rest: float

    @classmethod
    def of(cls, first: int, last: int, coefficients: Callable[[Decimal], Iterator[Decimal]]) -> Table:
        """Return the table of points first/SPACING to last/SPACING; ``coefficients`` yields those of a point."""
        with localcontext(_DIGITS):
            rows = []
            for point in range(first, last + 1):
                terms = coefficients(Decimal(point) / SPACING)
                rows.append([next(terms) for _ in range(_TERMS + 1)])
            columns = [[row[term] for row in rows] for term in range(_TERMS + 1)]
            pairs = [pair(column) for column in columns[:3]]
            others = [np.array([float(one) for one in column]) for column in columns[3:_TERMS]]
            reach = 0.5 / SPACING
            sizes = [np.abs(column).max() * reach**power for power, column in enumerate(others)]
            left_out = max(abs(float(one)) for one in columns[_TERMS]) * reach ** (_TERMS - 3)
        return cls(first, pairs, others, float(sum(sizes)), 2 * left_out)

    def evaluate(self, x: np.ndarray, tail: np.ndarray | float) -> Result:
        """Return the function at x + tail, which lies between the first and the last point, with its radius."""
        point = np.rint(x * SPACING)
        h = two_sum(x - point / SPACING, np.broadcast_to(tail, x.shape))
        index = np.clip(np.nan_to_num(point) - self.first, 0, len(self.pairs[0][0]) - 1).astype(np.intp)
        zeroth, first, second = ((high[index], low[index]) for high, low in self.pairs)
        small = self.others[-1][index]
        for column in self.others[-2::-1]:
            small = column[index] + h[0] * small
        cube = h[0] * h[0] * h[0]
        steep = multiply(add(first, multiply(second, h)), h)
        value, low = add(add(zeroth, steep), (cube * small, np.zeros_like(x)))
        radius = np.abs(cube) * (16 * UNIT * self.third + self.rest)
        radius += 8 * PAIR_ERROR * (np.abs(zeroth[0]) + np.abs(h[0]) * np.abs(first[0])) + _TINY
        return value, low, radius


def pair(numbers: list[Decimal]) -> Pair:
    """Return decimal numbers as pairs of floats."""
    high = [float(one) for one in numbers]
    low = [float(one - Decimal(float_)) for one, float_ in zip(numbers, high, strict=True)]
    return np.array(high), np.array(low)


def exp(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the exponential."""
    whole, rest = _without_log2(x, tail)
    return _scaled(_exp_table().evaluate(*rest), whole, x, low=-746.0, high=710.0)


def exp2(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return two to the power of the argument."""
    whole = np.rint(x)
    part = two_sum(x - whole, np.broadcast_to(tail, x.shape))
    rest = multiply(part, _constant(_log2(), x))
    value, low, radius = _exp_table().evaluate(*rest)
    return _scaled((value, low, radius + 8 * PAIR_ERROR), whole, x, low=-1076.0, high=1024.5)


def expm1(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the exponential less 1; for small arguments from an expansion of that."""
    power, rest, radius = exp(x, tail)
    value, low = add((power, rest), (np.full_like(x, -1.0), np.zeros_like(x)))
    ordinary = value, low, radius + 2 * PAIR_ERROR * np.abs(value)
    special = np.where(x > 0, power, -1.0), np.zeros_like(x), np.full_like(x, 2.0**-110)
    far = _chosen(np.isinf(power) | (x < -80), special, ordinary)
    near = _expm1_table().evaluate(np.where(np.abs(x) < 0.5, x, 0.0), tail)
    return _chosen(np.abs(x) < 0.5, near, far)


def log(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the natural logarithm; NaN below 0."""
    mantissa, exponent = np.frexp(x)
    doubled = mantissa < 0.5**0.5
    mantissa, exponent = np.where(doubled, 2 * mantissa, mantissa), exponent - doubled
    # Two steps, for no power of two beyond 2**1023 is a number.
    part = np.ldexp(np.ldexp(np.broadcast_to(tail, x.shape), -(exponent // 2)), -(exponent - exponent // 2))
    value, low, radius = _log_table().evaluate(np.where(x > 0, mantissa, 1.0), part)
    shift = multiply((exponent.astype(np.float64), np.zeros_like(x)), _constant(_log2(), x))
    value, low = add((value, low), shift)
    radius = radius + 4 * PAIR_ERROR * np.abs(shift[0])
    special = np.where(x == 0, -np.inf, np.where(x > 0, x, np.nan))
    ordinary = (x > 0) & np.isfinite(x)
    return _chosen(ordinary, (value, low, radius), (special, np.zeros_like(x), np.zeros_like(x)))


def log2(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the binary logarithm; NaN below 0."""
    value, low, radius = log(x, tail)
    product = divide((value, low), _constant(_log2(), x))
    finite = np.isfinite(value)
    result = product[0], product[1], 1.5 * radius + 4 * PAIR_ERROR * np.abs(product[0])
    return _chosen(finite, result, (value, low, radius))


def log1p(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the natural logarithm of 1 plus the argument; NaN below -1."""
    small = np.abs(x) < 0.25
    near = _log1p_table().evaluate(np.where(small, x, 0.0), tail)
    # Beyond that, 1 + x as a pair.
    total, lost = two_sum(np.float64(1.0), x)
    finite = np.isfinite(x)
    value, low, radius = log(total, np.where(finite, lost + tail, 0.0))
    radius = radius + 4 * UNIT**2
    return _chosen(small, near, (value, low, radius))


def tanh(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the hyperbolic tangent: expm1(2x) / (expm1(2x) + 2)."""
    sign, size = np.where(np.signbit(x), -1.0, 1.0), np.minimum(np.abs(x), 40.0)
    value, low, radius = expm1(2 * size, np.where(np.abs(x) < 40, 2 * sign * tail, 0.0))
    over = add((value, low), (np.full_like(x, 2.0), np.zeros_like(x)))
    high, rest = divide((value, low), over)
    # The slope of e/(e + 2) is 2/(e + 2)**2.
    radius = 2 * radius / (over[0] * over[0]) * 1.01 + 8 * PAIR_ERROR * np.abs(high) + _TINY
    radius = np.where(np.abs(x) >= 40, 2.0**-110, radius)
    return sign * np.where(np.isnan(x), np.nan, high), sign * rest, radius


def erf(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the error function; beyond 8 it is 1 to 2**-96."""
    sign, size = np.where(np.signbit(x), -1.0, 1.0), np.abs(x)
    inside = size <= 8
    value, low, radius = _erf_table().evaluate(np.where(inside, size, 0.0), np.where(inside, sign * tail, 0.0))
    value, low, radius = _chosen(
        inside, (value, low, radius), (np.ones_like(x), np.zeros_like(x), np.full_like(x, 2.0**-95))
    )
    return sign * np.where(np.isnan(x), np.nan, value), sign * low, radius


def sin(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the sine; beyond 2**20 nothing is said of it, and the radius is 2."""
    return _circular(x, tail, 0)


def cos(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the cosine; beyond 2**20 nothing is said of it, and the radius is 2."""
    return _circular(x, tail, 1)


def sqrt(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return the square root: that of x, and what its square leaves over."""
    root = np.sqrt(x)
    square, lost = two_product(root, root)
    usable = (root > 0) & (x < 2.0**990) & (x > 2.0**-900)
    low = np.where(usable, ((x - square) - lost + tail) / (2 * root), 0.0)
    low = np.where(np.isfinite(low), low, 0.0)
    return root, low, np.where(usable, 8 * PAIR_ERROR * root, np.where(root > 0, 2 * UNIT * root, 0.0))


def rsqrt(x: np.ndarray, tail: np.ndarray | float) -> Result:
    """Return 1 over the square root: a quotient, and one step of Newton's."""
    usable = (x < 2.0**990) & (x > 2.0**-900)
    start = 1 / np.sqrt(x)
    square = two_product(start, start)
    product = multiply(square, (x, np.broadcast_to(tail, x.shape)))
    left = (1.0 - product[0]) - product[1]
    low = np.where(usable, start * left * (0.5 + 0.375 * left), 0.0)
    value, low = two_sum(start, low)
    low = np.where(np.isfinite(value), low, 0.0)
    radius = np.where(usable, 16 * PAIR_ERROR * value, np.where(np.isfinite(value), 4 * UNIT * value, 0.0))
    return value, low, radius


def _circular(x: np.ndarray, tail: np.ndarray | float, quarters: int) -> Result:
    known = np.abs(x) <= 2.0**20
    inside = np.where(known, x, 0.0)
    turns = np.rint(inside * (2 / float(PI)))
    rest = _reduced(inside, np.where(known, tail, 0.0), turns, _half_pi())
    which = (turns.astype(np.int64) + quarters) % 4
    sine, cosine = _sin_table().evaluate(*rest), _cos_table().evaluate(*rest)
    value, low, radius = _chosen(which % 2 == 0, sine, cosine)
    sign = np.where(which >= 2, -1.0, 1.0)
    unknown = np.where(np.isfinite(x), 0.0, np.nan), np.zeros_like(x), np.full_like(x, 2.0)
    reduction = 2.0**-112 * np.abs(turns)  # what three parts leave out of pi/2, and the roundings of their products
    return _chosen(known, (sign * value, sign * low, radius + reduction), unknown)


def _without_log2(x: np.ndarray, tail: np.ndarray | float) -> tuple[np.ndarray, Pair]:
    """Return k and x + tail - k log 2 for the nearest integer k, as a pair; 0 for arguments that are not finite."""
    usable = np.abs(x) < 800
    inside = np.where(usable, x, 0.0)
    whole = np.rint(inside * 1.4426950408889634)
    return whole, _reduced(inside, np.where(usable, tail, 0.0), whole, _log2())


def _reduced(x: np.ndarray, tail: np.ndarray | float, times: np.ndarray, number: Decimal) -> Pair:
    """Return x + tail - times * number, with ``number`` in three parts (Cody and Waite).

    The first two have 33 bits and fewer, so that their products with ``times``, below 2**20, are exact, and so is the
    first difference.
    """
    first, second, third = _parts(number)
    rest = two_sum(x - times * first, -(times * second))
    return add(rest, two_sum(-(times * third), np.broadcast_to(tail, x.shape)))


@functools.cache
def _parts(number: Decimal) -> tuple[float, float, float]:
    with localcontext(_DIGITS):
        parts = []
        for _ in range(2):
            mantissa, exponent = np.frexp(float(number))
            parts.append(float(np.ldexp(np.trunc(np.ldexp(mantissa, 33)), exponent - 33)))
            number = number - Decimal(parts[-1])
        return parts[0], parts[1], float(number)


def _scaled(result: Result, power: np.ndarray, x: np.ndarray, *, low: float, high: float) -> Result:
    """Return ``result`` times 2**power; 0 for x below ``low``, infinity above ``high``, NaN for NaN."""
    half = np.trunc(power / 2)
    one, two = np.ldexp(1.0, half.astype(np.int64)), np.ldexp(1.0, (power - half).astype(np.int64))
    value, tail, radius = (part * one * two for part in result)
    value, tail = two_sum(value, tail)
    tail = np.where(np.isfinite(value), tail, 0.0)
    inside = (x >= low) & (x <= high)
    beyond = np.where(np.isnan(x), np.nan, np.where(x > 0, np.inf, 0.0))
    flat = np.where(np.isneginf(x), 0.0, 2.0**-1074)
    return _chosen(inside, (value, tail, radius + 2.0**-1073), (beyond, np.zeros_like(x), flat))


def _chosen(where: np.ndarray, one: Result, other: Result) -> Result:
    value, tail, radius = (np.where(where, a, b) for a, b in zip(one, other, strict=True))
    return value, tail, radius


def _constant(number: Decimal, like: np.ndarray) -> Pair:
    with localcontext(_DIGITS):
        high = float(number)
        return np.full_like(like, high), np.full_like(like, float(number - Decimal(high)))


@functools.cache
def _log2() -> Decimal:
    return Context(prec=60).ln(Decimal(2))


@functools.cache
def _half_pi() -> Decimal:
    return _DIGITS.divide(PI, Decimal(2))


@functools.cache
def _exp_table() -> Table:
    return Table.of(-24, 24, lambda x: _derived(x.exp() for _ in iter(int, 1)))


@functools.cache
def _expm1_table() -> Table:
    def derivatives(x: Decimal) -> Iterator[Decimal]:
        power = x.exp()
        yield power - 1
        while True:
            yield power

    return Table.of(-33, 33, lambda x: _derived(derivatives(x)))


@functools.cache
def _log_table() -> Table:
    return Table.of(44, 92, _of_log)


@functools.cache
def _log1p_table() -> Table:
    return Table.of(-17, 17, lambda x: _of_log(1 + x))


@functools.cache
def _sin_table() -> Table:
    return Table.of(-52, 52, lambda x: _derived(_turning(x, 0)))


@functools.cache
def _cos_table() -> Table:
    return Table.of(-52, 52, lambda x: _derived(_turning(x, 1)))


@functools.cache
def _erf_table() -> Table:
    return Table.of(0, 8 * SPACING + 1, _of_erf)


def _derived(derivatives: Iterator[Decimal]) -> Iterator[Decimal]:
    """Yield Taylor coefficients of ``derivatives``."""
    factorial = Decimal(1)
    for order, derivative in enumerate(derivatives):
        factorial *= max(order, 1)
        yield derivative / factorial


def _of_log(x: Decimal) -> Iterator[Decimal]:
    yield x.ln()
    power, order = Decimal(1), 0
    while True:
        power, order = -power / x, order + 1
        yield -power / order


def _turning(x: Decimal, quarters: int) -> Iterator[Decimal]:
    """Yield the derivatives of the sine a number of quarter turns ahead of ``x``."""
    sine, cosine = _series(x, 1), _series(x, 0)
    values = [sine, cosine, -sine, -cosine]
    while True:
        yield values[quarters % 4]
        quarters += 1


def _series(x: Decimal, order: int) -> Decimal:
    """Return the Taylor series of the sine (order 1) or cosine (order 0) about 0."""
    term = x if order else Decimal(1)
    total = Decimal(0)
    while abs(term) > Decimal("1e-65"):
        total += term
        term *= -x * x / ((order + 1) * (order + 2))
        order += 2
    return total


def _of_erf(x: Decimal) -> Iterator[Decimal]:
    """Yield erf(x), and the coefficients of its derivative 2/sqrt(pi) exp(-x*x), whose own are Hermite polynomials."""
    scale = 2 / PI.sqrt()
    with localcontext(Context(prec=110)):  # the alternating series cancels 28 digits at 8
        total, term, order = Decimal(0), x, 0
        while abs(term) > Decimal("1e-70"):
            total += term / (2 * order + 1)
            order += 1
            term *= -x * x / order
    yield scale * total
    bell = scale * (-x * x).exp()
    before, hermite, factorial = Decimal(0), Decimal(1), Decimal(1)
    order = 0
    while True:
        factorial *= order + 1
        yield bell * hermite / factorial
        before, hermite = hermite, -2 * x * hermite - 2 * order * before
        order += 1
