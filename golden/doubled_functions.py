"""Elementary functions with twice the bits of float64, each with a bound of what its result may be off by.

An argument is reduced to a point of a table and a small rest. Of the polynomial in the rest only the leading terms need
more than a float. Where they are kept as a float of so few bits that products with it are exact, and a remainder, the
others are plain floats. All of it is arithmetic that IEEE 754 fixes to the bit, and integer arithmetic on exponents, so
every machine gets the same results. (Tang, "Table-driven implementation of the exponential function in IEEE
floating-point arithmetic", ACM TOMS 15, 1989, and of the logarithm, ACM TOMS 16, 1990; Cody and Waite, *Software Manual
for the Elementary Functions*, 1980.)

Each function takes float64 arrays x and tail of one axis, x being the rounded sum of both, and returns value, tail and
radius. In the comments on errors u is 2**-53. A result that underflows errs by less than 2**-1074 besides; one beyond
the range is an infinity.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from golden import doubled_tables as tables
from golden.doubled import (
    ADD_ERROR,
    DIVIDE_ERROR,
    MULTIPLY_ERROR,
    PAIR_ERROR,
    ROOT_ERROR,
    UNIT,
    Pair,
    add,
    divide,
    fast_two_sum,
    multiply,
    square_root,
    two_product,
    two_sum,
)

Result = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Value, tail and radius."""

Piece = Callable[[np.ndarray, np.ndarray], Result]

EXP_ERROR = 2.0**-77
"""Relative error of the exponential. The rest of the table's power errs by 2**-81, the two sums that it goes through by
2**-80 each, the products with the polynomial by 2**-86, the reduced argument by 2**-89: less than 2**-78 in all."""

FAR_ERROR = 2.0**-95
"""Relative error of taking a function for its limit, where that is done."""

LEAST = 2.0**-1074

_TINY = 2.0**-200
"""Below this, functions with f(0) = 0 are their slope at 0 times the argument: they differ by 2**-200 of that."""

_ORDINARY = 2.0**900
"""Between this and its reciprocal nothing over- or underflows on the way."""

_GRID = 1.5 * 2.0 ** (52 - 37)
"""Adding and subtracting this rounds to a multiple of 2**-37: 26 bits of a number below 2**-11."""

_ONE: Pair = (np.array(1.0), np.array(0.0))


def exp(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the exponential."""
    return _piecewise(
        x, tail, [(np.abs(x) < 800, lambda x, tail: _scaled(*_exp(x, tail), EXP_ERROR))], _limits(0, np.inf)
    )


def exp2(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return two to the power of the argument."""
    return _piecewise(
        x, tail, [(np.abs(x) < 1100, lambda x, tail: _scaled(*_exp2(x, tail), EXP_ERROR))], _limits(0, np.inf)
    )


def expm1(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the exponential less 1."""
    size = np.abs(x)
    cases = [
        ((size > 0.25) & (x > -800) & (x < 700), _expm1_far),
        ((size >= _TINY) & (size <= 0.25), _expm1_near),
        (size < _TINY, _proportional(tables.ONE)),
        (x > 0, exp),
    ]
    return _piecewise(x, tail, cases, _limits(-1, np.inf))


def log(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the natural logarithm; NaN below 0."""
    cases = [
        ((x > 1 / _ORDINARY) & (x < _ORDINARY), _log),
        ((x > 0) & (x < np.inf), _log_of_extremes),
    ]
    return _piecewise(x, tail, cases, lambda x, _: _exact(np.where(x == 0, -np.inf, np.where(x > 0, x, np.nan))))


def log2(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the binary logarithm; NaN below 0."""

    def finite(x: np.ndarray, tail: np.ndarray) -> Result:
        value, low, error = log(x, tail)
        value, low, radius = _bounded(*multiply((value, low), _per_log2()), 4 * MULTIPLY_ERROR)
        return value, low, radius + 1.4427 * error

    return _piecewise(x, tail, [((x > 0) & (x < np.inf), finite)], log)


def log1p(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the natural logarithm of 1 plus the argument; NaN below -1."""
    size = np.abs(x)

    def of_sum(x: np.ndarray, tail: np.ndarray) -> Result:
        total, lost = two_sum(np.float64(1), x)
        return log(*two_sum(total, lost + tail))

    cases = [
        ((size >= 2.0**-13) & (x < _ORDINARY), of_sum),
        ((size >= _TINY) & (size < 2.0**-13), _log1p_near),
        (size < _TINY, _proportional(tables.ONE)),
    ]
    return _piecewise(x, tail, cases, log)


def tanh(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the hyperbolic tangent."""
    size = np.abs(x)
    cases = [((size >= _TINY) & (size < 64), _tanh), (size < _TINY, _proportional(tables.ONE))]
    return _piecewise(x, tail, cases, _limits(-1, 1))


def sigmoid(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return 1 / (1 + exp(-x))."""
    return _piecewise(x, tail, [(np.abs(x) < 800, _sigmoid)], _limits(0, 1))


def erf(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the error function."""
    size = np.abs(x)
    cases = [((size >= _TINY) & (size < 8.25), _erf), (size < _TINY, _proportional(tables.erf_slope()))]
    return _piecewise(x, tail, cases, _limits(-1, 1))


def erfc(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return 1 less the error function."""

    def by_erf(x: np.ndarray, tail: np.ndarray) -> Result:
        value, low, radius = erf(-x, -tail)
        value, low = add(_ONE, (value, low))
        return value, low, radius + ADD_ERROR * np.abs(value)

    cases = [((x > -8.25) & (x < tables.ERFCX_FIRST), by_erf), ((x > 0) & (x < tables.ERFCX_LAST), _erfc_far)]
    return _piecewise(x, tail, cases, _limits(2, 0))


def sin(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the sine."""
    return _circular(x, tail, 0, [(np.abs(x) < _TINY, _proportional(tables.ONE))])


def cos(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the cosine."""
    return _circular(x, tail, 1, [])


def sqrt(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return the square root; NaN below 0."""
    return _algebraic(x, tail, square_root, ROOT_ERROR, lambda up: -up // 2, np.sqrt, positive=True)


def rsqrt(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return 1 over the square root; NaN below 0."""
    error = ROOT_ERROR + DIVIDE_ERROR

    def inverse(a: Pair) -> Pair:
        return divide(_ONE, square_root(a))

    return _algebraic(x, tail, inverse, error, lambda up: up // 2, lambda x: 1 / np.sqrt(x), positive=True)


def reciprocal(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return 1 over the argument."""
    return _algebraic(x, tail, lambda a: divide(_ONE, a), DIVIDE_ERROR, lambda up: up, lambda x: 1 / x, positive=False)


def _piecewise(x: np.ndarray, tail: np.ndarray, cases: Sequence[tuple[np.ndarray, Piece]], otherwise: Piece) -> Result:
    """Return each element by the first of ``cases`` whose mask is true there."""
    left = np.ones(x.shape, bool)
    results = np.empty((3, *x.shape))
    for mask, piece in (*cases, (left, otherwise)):
        here = left & mask
        if here.all():
            return piece(x, tail)
        if here.any():
            results[:, here] = piece(x[here], tail[here])
            left &= ~mask
    value, low, radius = results
    return value, low, radius


def _bounded(value: np.ndarray, tail: np.ndarray, error: np.ndarray | float) -> Result:
    """Return the result whose relative error is ``error``."""
    radius = np.abs(value)
    radius *= error
    radius += LEAST
    return value, tail, radius


def _exact(value: np.ndarray) -> Result:
    return value, np.zeros_like(value), np.zeros_like(value)


def _limits(below: float, above: float) -> Piece:
    """Return the piece that takes a function for its limit; NaN for NaN."""

    def piece(x: np.ndarray, _: np.ndarray) -> Result:
        value = np.where(x > 0, float(above), np.where(x < 0, float(below), np.nan))
        value, low, radius = _bounded(value, np.zeros_like(x), FAR_ERROR)
        return value, low, np.where(np.isinf(x), 0.0, radius)

    return piece


def _proportional(slope: int) -> Piece:
    """Return the piece that multiplies by ``slope``, a number of the tables' above 0, without loss by underflow."""

    def piece(x: np.ndarray, tail: np.ndarray) -> Result:
        up = 2.0**900
        value, low = multiply((x * up, tail * up), _constant(slope))
        return _scaled(np.copysign(value, x), low, np.full(x.shape, -900, np.int64), MULTIPLY_ERROR)

    return piece


def _power(exponent: np.ndarray) -> np.ndarray:
    """Return two to the power of integers from -1022 to 1023."""
    return (exponent + 1023 << 52).view(np.float64)


def _scaled(value: np.ndarray, tail: np.ndarray, exponent: np.ndarray, error: np.ndarray | float) -> Result:
    """Return a pair, whose relative error is ``error``, times two to the power of integers from -2000 to 2000."""
    if exponent.min() >= -1000 and exponent.max() <= 1000:
        factor = _power(exponent)
        return _bounded(value * factor, tail * factor, error)
    half = exponent >> 1
    first, second = _power(half), _power(exponent - half)
    return _bounded(value * first * second, tail * first * second, error)


@functools.cache
def _constant(number: int) -> Pair:
    high, low = tables.pair(number)
    return np.array(high), np.array(low)


@functools.cache
def _per_log2() -> Pair:
    return _constant(tables.ONE * tables.ONE // tables.log2())


@functools.cache
def _step_parts() -> tuple[float, ...]:
    """Return log(2)/STEPS in parts of 32, 30 and 53 bits; times integers below 2**21 the first two are exact."""
    return tables.parts(tables.log2() // tables.STEPS, 42, 72)


def _exp(x: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the exponential of arguments below 800 in magnitude: a pair and the power of two that it is times."""
    first, second, third = _step_parts()
    times = np.rint(x * (1 / (first + second)))
    rest = x - times * first
    part = times * second
    high = rest - part
    # The first difference is exact, and so is this sum: where the part is the larger one, all are multiples of 2**-72.
    low = (rest - high) - part
    low += tail - times * third
    return _power_of_two(times, high, low)


def _exp2(x: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what _exp does of two to the power of x + tail, for arguments below 1100 in magnitude."""
    first, second = tables.parts(tables.log2(), 26)
    times = np.rint(x * tables.STEPS)
    rest = x - times / tables.STEPS
    few = (rest + _GRID) - _GRID
    return _power_of_two(times, few * first, few * second + ((rest - few) + tail) * (first + second))


def _power_of_two(times: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return exp(h) 2**(times/STEPS) as a pair and the power of two that it is times.

    h = high + low is below 2**-11.5, low below 2**-37. h1 has 26 bits, so that the square in exp(h) - 1 = h1 + h1**2/2
    + (h2 + h2 (h1 + h2/2) + h**3/6 ...) is exact; of the first two terms q1 has 26 bits again, and the product with
    the head of the table's power, of 27 bits, is exact.
    """
    whole = times.astype(np.int64)
    index = whole & (tables.STEPS - 1)
    table = tables.powers()
    head, rest = table.head.take(index), table.rest.take(index)
    h = high + low
    h1 = (h + _GRID) - _GRID
    h2 = (high - h1) + low
    square = 0.5 * h1 * h1
    small = h * h * h * (1 / 6 + h * (1 / 24 + h * (1 / 120 + h * (1 / 720))))
    small += h2 + h2 * (h1 + 0.5 * h2)
    q1 = ((h1 + square) + _GRID) - _GRID
    small += (h1 - q1) + square
    value, lost = fast_two_sum(head, head * q1)
    lost += rest + (head * small + rest * (q1 + small))
    value, lost = fast_two_sum(value, lost)
    return value, lost, (whole - index) >> 10


def _expm1_far(x: np.ndarray, tail: np.ndarray) -> Result:
    power, low, radius = exp(x, tail)
    value, low = add((power, low), (np.array(-1.0), np.array(0.0)))
    return value, low, radius + ADD_ERROR * np.abs(value)


def _expm1_near(x: np.ndarray, tail: np.ndarray) -> Result:
    table = tables.near_zero()
    point = np.rint(x * tables.NEAR_SPACING)
    h = two_sum(x - point / tables.NEAR_SPACING, tail)
    return _bounded(*table.evaluate(point.astype(np.int64) + tables.NEAR_LAST, h))


def _tanh(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return e/(e + 2), e being exp(2|x|) - 1. Its slope is 2/(e + 2)**2."""
    sign = np.copysign(1.0, x)
    value, low, radius = expm1(2 * np.abs(x), 2 * sign * tail)
    over = add((value, low), (np.array(2.0), np.array(0.0)))
    value, low = divide((value, low), over)
    carried = 2.001 * radius / (over[0] * over[0])
    value, low, radius = _bounded(sign * value, sign * low, 2 * (ADD_ERROR + DIVIDE_ERROR))
    return value, low, radius + carried


def _sigmoid(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return p/(1 + e) with e = exp(-|x|), p being 1 above 0, where only a share e of its error counts, and e below."""
    below = x < 0
    value, low, exponent = _exp(-np.abs(x), np.where(below, tail, -tail))
    small, lost, _ = _scaled(value, low, exponent, 0.0)
    numerator = np.where(below, value, 1.0), np.where(below, low, 0.0)
    quotient = divide(numerator, add(_ONE, (small, lost)))
    error = EXP_ERROR * np.where(below, 1.0, small) + 2 * (ADD_ERROR + DIVIDE_ERROR)
    return _scaled(*quotient, np.where(below, exponent, 0), error)


@functools.cache
def _log2_parts() -> tuple[float, ...]:
    return tables.parts(tables.log2(), 41)


def _log(x: np.ndarray, tail: np.ndarray, shift: np.ndarray | int = 0) -> Result:
    """Return the logarithm of ordinary numbers, and ``shift`` times that of 2 besides."""
    code = x.view(np.int64)
    above = code - tables.LOG_OFFSET
    exponent = above >> 52
    index = (above >> tables.LOG_WIDTH) & (tables.LOG_STEPS - 1)
    mantissa = (code - (exponent << 52)).view(np.float64)
    table = tables.logarithms()
    reciprocal = table.reciprocal.take(index)
    # Both halves of the mantissa times 14 bits are exact, and so is their sum less 1: where the second one is the
    # larger, both are multiples of 2**-66.
    upper = (mantissa.view(np.int64) & (-1 << 27)).view(np.float64)
    most, part = upper * reciprocal - 1, (mantissa - upper) * reciprocal
    z, low = fast_two_sum(most, part)
    z, low = fast_two_sum(z, low + tail * _power(-exponent) * reciprocal)
    times = (exponent + shift).astype(np.float64)
    first, second = _log2_parts()
    known = times * first + table.head.take(index)  # multiples of 2**-41: exact
    return _log_of_product(known, times * second + table.rest.take(index), z, low)


def _log_of_product(known: np.ndarray, lost: np.ndarray, z: np.ndarray, low: np.ndarray) -> Result:
    """Return known + lost + log(1 + z + low). ``known`` is 0 or more than z in magnitude, which is below 2**-11.6.

    z1 has 26 bits, so that the square in log(1 + z) = z - z1**2/2 - (z2 (z1 + z2/2) - z**3/3 ...) is exact. The cubic
    term errs by 11 u of itself, the one before by 2**-89 |z|, and ``lost``, which is below 2**-42 for each power of
    two and for the table, by 2**-93 + 2**-91 |known|; the bounds are four times that.
    """
    z1 = (z + _GRID) - _GRID
    z2 = (z - z1) + low
    cube = z * z * z
    small = cube * (1 / 3 - z * (1 / 4 - z * (1 / 5 - z * (1 / 6 - z * (1 / 7)))))
    small += low - z2 * (z1 + 0.5 * z2)
    value, first = fast_two_sum(known, z)
    value, second = fast_two_sum(value, -0.5 * z1 * z1)
    value, low, radius = _bounded(*fast_two_sum(value, lost + (small + (first + second))), 4 * PAIR_ERROR)
    radius += np.abs(16 * UNIT * cube) + 2.0**-87 * np.abs(z) + 2.0**-89 * np.abs(known) + 2.0**-91 * (known != 0)
    return value, low, radius


def _log_of_extremes(x: np.ndarray, tail: np.ndarray) -> Result:
    up = np.where(x < 1, np.int64(200), np.int64(-200))
    factor = _power(up)
    return _log(x * factor, tail * factor, -up)


def _log1p_near(x: np.ndarray, tail: np.ndarray) -> Result:
    nothing = np.zeros_like(x)
    return _log_of_product(nothing, nothing, x, tail)


def _erf(x: np.ndarray, tail: np.ndarray) -> Result:
    table, sign, size = tables.erfs(), np.copysign(1.0, x), np.abs(x)
    point = np.rint(size * tables.TURN_SPACING)
    h = two_sum(size - point / tables.TURN_SPACING, sign * tail)
    value, low, error = table.evaluate(point.astype(np.int64), h)
    return _bounded(sign * value, sign * low, error)


def _erfc_far(x: np.ndarray, tail: np.ndarray) -> Result:
    """Return exp(-x*x) times the scaled function; x*x errs by 2**-94."""
    table, width = tables.scaled_erfcs(), tables.ERFCX_WIDTH
    square, lost = two_product(x, x)
    value, low, exponent = _exp(-square, -(lost + 2 * x * tail))
    code = x.view(np.int64) >> width
    middle = ((code << width) + (1 << width - 1)).view(np.float64)
    index = code - (np.float64(tables.ERFCX_FIRST).view(np.int64) >> width)
    factor, rest, error = table.evaluate(index, two_sum(x - middle, tail))
    product = multiply((value, low), (factor, rest))
    return _scaled(*product, exponent, error + (EXP_ERROR + MULTIPLY_ERROR + 2.0**-94))


def _circular(x: np.ndarray, tail: np.ndarray, quarters: int, cases: list[tuple[np.ndarray, Piece]]) -> Result:
    """Return the sine of an argument that is ``quarters`` of a turn ahead."""

    def near(x: np.ndarray, tail: np.ndarray) -> Result:
        times, y = _without_turns(x, tail)
        # What four parts leave out of pi/2, and the roundings of their products.
        return _on_circle(times.astype(np.int64) + quarters, y, 2.0**-150 * np.abs(times))

    def far(x: np.ndarray, tail: np.ndarray) -> Result:
        turned = [_turned(*both) for both in zip(x.tolist(), tail.tolist(), strict=True)]
        times, high, low = (np.array(column) for column in zip(*turned, strict=True))
        return _on_circle(times + quarters, (high, low), 2.0**-190)

    cases = [*cases, (np.abs(x) <= 2.0**20, near), (np.isfinite(x), far)]
    return _piecewise(x, tail, cases, lambda x, _: _exact(np.full_like(x, np.nan)))


def _on_circle(times: np.ndarray, y: Pair, absolute: np.ndarray | float) -> Result:
    """Return the sine of ``times`` quarter turns and y, which is at most pi/4 and known to an ``absolute`` error."""
    table = tables.turns()
    point = np.rint(y[0] * tables.TURN_SPACING)
    h = two_sum(y[0] - point / tables.TURN_SPACING, y[1])
    index = point.astype(np.int64) + tables.TURN_LAST + (times & 1) * (2 * tables.TURN_LAST + 1)
    sign = (1 - (times & 2)).astype(np.float64)
    value, low, error = table.evaluate(index, h)
    value, low, radius = _bounded(sign * value, sign * low, error + 4 * ADD_ERROR)
    return value, low, radius + absolute


@functools.cache
def _quarter_parts() -> tuple[float, ...]:
    """Return pi/2 in parts of 33, 32, 32 and 53 bits; times integers below 2**20 the first three are exact."""
    return tables.parts(tables.pi() // 2, 32, 65, 98)


def _without_turns(x: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, Pair]:
    """Return how many quarter turns are nearest to an argument up to 2**20, and what they leave, as a pair."""
    first, second, third, fourth = _quarter_parts()
    times = np.rint(x * (1 / (first + second)))
    rest = two_sum(x - times * first, -times * second)
    small, lost = two_sum(tail, -times * third)
    return times, add(rest, two_sum(small, lost - times * fourth))


def _turned(x: float, tail: float) -> tuple[int, float, float]:
    """Return what _without_turns does, modulo 4 turns, of any finite argument: in integers, since it is rare."""
    places, more = tables.BITS, 1100
    quarter = tables.pi(places + more) // 2
    total = tables.fixed(x) + tables.fixed(tail) << more
    times, rest = divmod(total + quarter // 2, quarter)
    return (times % 4, *tables.pair(rest - quarter // 2 >> more))


def _algebraic(
    x: np.ndarray,
    tail: np.ndarray,
    function: Callable[[Pair], Pair],
    error: float,
    exponent: Callable[[np.ndarray], np.ndarray],
    special: Callable[[np.ndarray], np.ndarray],
    *,
    positive: bool,
) -> Result:
    """Return a function of pairs of ordinary numbers, of others by way of such.

    Those are times two to the power of some number, and the result times that of its ``exponent``. ``special`` gives
    the results of zeros, infinities and NaN. The bound is taken four times, as a margin.
    """
    error = 4 * error

    def of_extremes(x: np.ndarray, tail: np.ndarray) -> Result:
        up = np.where(np.abs(x) < 1, np.int64(600), np.int64(-600))
        factor = _power(up)
        return _scaled(*function((x * factor, tail * factor)), exponent(up), error)

    size = x if positive else np.abs(x)
    cases = [
        ((size > 1 / _ORDINARY) & (size < _ORDINARY), lambda x, tail: _bounded(*function((x, tail)), error)),
        ((size > 0) & (size < np.inf), of_extremes),
    ]
    return _piecewise(x, tail, cases, lambda x, _: _exact(special(x)))
