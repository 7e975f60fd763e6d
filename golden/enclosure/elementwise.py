"""Functions of single elements: each carries the errors of its argument on by its slope, and adds its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from golden import functions
from golden.dtypes import decode, encode
from golden.emulation import APPROXIMATIONS, WHOLE, Rounding
from golden.enclosure.array import (
    BIAS,
    HARD,
    RADIUS,
    Array,
    Enclosure,
    all_finite,
    asked,
    column,
    errors_in,
    left_open,
    lifted,
    rounded,
    settled,
)
from golden.enclosure.errors import Errors, rowwise

Spread = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""How far a function's result moves at most when its argument x, with result y, moves by e: (x, y, e) to an error."""


def absolute(x: Any) -> Any:
    """Return the magnitude of each element: exact."""
    if not isinstance(x, Enclosure):
        return np.abs(x)
    sign = np.where(np.signbit(x.value), -1.0, 1.0)
    return Enclosure(np.abs(x.value), x.precision, tail=x.tail * sign, errors=x.errors)


def exp(x: Any) -> Any:
    """Return the exponential of each element."""
    return _apply("exp", x, lambda x, y, e: _risen(np.exp, x, y, e, e))


def exp2(x: Any) -> Any:
    """Return two to the power of each element."""
    return _apply("exp2", x, lambda x, y, e: _risen(np.exp2, x, y, e, e * 0.6931471805599454))


def expm1(x: Any) -> Any:
    """Return the exponential of each element, less 1."""
    return _apply("expm1", x, lambda x, y, e: _risen(np.exp, x, y + 1, e, e))


def log(x: Any) -> Any:
    """Return the natural logarithm of each element."""
    return _apply("log", x, lambda x, _, e: e / np.maximum(x - e, 0.0))


def log2(x: Any) -> Any:
    """Return the binary logarithm of each element."""
    return _apply("log2", x, lambda x, _, e: 1.4426950408889636 * e / np.maximum(x - e, 0.0))


def log1p(x: Any) -> Any:
    """Return the natural logarithm of 1 plus each element."""
    return _apply("log1p", x, lambda x, _, e: e / np.maximum(1 + x - e, 0.0))


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of each element."""
    return _apply("tanh", x, _spread_of_tanh)


def erf(x: Any) -> Any:
    """Return the error function of each element. Its slope is 2/sqrt(pi) exp(-x*x)."""
    return _apply("erf", x, lambda x, _, e: 1.1283791670955126 * e * np.exp(-(_nearest(x, e) ** 2)))


def erfc(x: Any) -> Any:
    """Return 1 less the error function of each element."""
    return _apply("erfc", x, lambda x, _, e: 1.1283791670955126 * e * np.exp(-(_nearest(x, e) ** 2)))


def sin(x: Any) -> Any:
    """Return the sine of each element."""
    return _apply("sin", x, lambda x, _, e: np.minimum(e, 2.0))


def cos(x: Any) -> Any:
    """Return the cosine of each element."""
    return _apply("cos", x, lambda x, _, e: np.minimum(e, 2.0))


def sqrt(x: Any) -> Any:
    """Return the square root of each element."""
    return _apply("sqrt", x, lambda x, y, e: _over(e, y + np.sqrt(np.maximum(x - e, 0.0))))


def rsqrt(x: Any) -> Any:
    """Return 1 over the square root of each element."""

    def spread(x: np.ndarray, y: np.ndarray, e: np.ndarray) -> np.ndarray:
        least = np.sqrt(np.maximum(x - e, 0.0))
        return _over(e * y, least * (np.sqrt(x) + least))

    return _apply("rsqrt", x, spread)


def floor(x: Any) -> Any:
    """Return the largest whole number that is not above each element."""
    return _whole(np.floor, x)


def nearest_integer(x: Any) -> Any:
    """Return the whole number nearest to each element; of two as near the even one."""
    return _whole(np.rint, x)


def toward_zero(x: Any) -> Any:
    """Return each element without its fraction."""
    return _whole(np.trunc, x)


def nearest_in(x: Any, dtype: str) -> Any:
    """Return each element rounded once, to nearest even, to a number of ``dtype``, in whose range it must be."""
    stored = x.precision.emulated.stored if isinstance(x, Enclosure) else np.asarray
    return _stepped(lambda numbers: decode(encode(stored(numbers), dtype), dtype), x)


def kept(x: Any) -> Any:
    """Return ``x``, a result that implementations may keep in the dtype that the precision names for that."""
    if not isinstance(x, Enclosure):
        return x
    if rounding := x.precision.emulated.kept:
        return followed(x, rounding)
    return rounded(x, x.precision.kept) if x.precision.kept else x


def followed(x: Enclosure, rounding: Rounding | None) -> Enclosure:
    """Return ``x`` after a ``rounding`` that is known to happen, so that it moves the value; None for none."""
    result: Enclosure = _stepped(rounding, x) if rounding else x
    return result


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of each two elements; NaN propagates. A selection: exact."""
    return _selected(np.maximum, x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of each two elements; NaN propagates. A selection: exact."""
    return _selected(np.minimum, x, y)


def where(mask: np.ndarray, x: Any, y: Any) -> Any:
    """Return the elements of ``x`` where the plain ``mask`` is true, those of ``y`` elsewhere."""
    if not (isinstance(x, Enclosure) or isinstance(y, Enclosure)):
        return np.where(mask, x, y)
    precision = (x if isinstance(x, Enclosure) else y).precision
    a, b = lifted(x, precision), lifted(y, precision)
    value = np.where(mask, a.value, b.value)
    tail = 0.0 if type(a.tail) is float and type(b.tail) is float else np.where(mask, a.tail, b.tail)
    if a.is_exact and b.is_exact:
        return Enclosure(value, precision, tail=tail)
    return settled(
        value,
        precision,
        tail=tail,
        errors=rowwise(lambda of_a, of_b: np.where(mask, of_a, of_b), _aligned(a, value), _aligned(b, value)),
        open_=np.where(mask, left_open(a), left_open(b)),
    )


def _apply(name: str, x: Any, spread: Spread) -> Any:
    if not isinstance(x, Enclosure):
        with np.errstate(all="ignore"):
            return _PLAIN[name](x)
    precision, emulated = x.precision, x.precision.emulated
    argument = x.tail if precision.doubled else 0.0
    value, tail, radius = functions.evaluate(name, x.value, argument, doubled=precision.doubled)
    if emulated.approximation and APPROXIMATIONS[emulated.approximation][0] == name:
        value, tail = APPROXIMATIONS[emulated.approximation][1](x.value), np.zeros(x.shape)
    own = asked(precision, name, np.abs(value), np.abs(x.value), radius)
    if not x.once(all_finite):  # what has underflowed altogether, as the exponential of -inf, is exact
        finite = np.isfinite(x.value)
        own = own.each(lambda row: np.where(finite, row, 0.0))
    errors = errors_in(x, x.shape)
    if type(errors) is not float:
        own = own + errors.each(lambda e: (1 + precision.unit) * spread(x.value, value, e))
    result = settled(value, precision, tail=tail if precision.doubled else 0.0, errors=own, open_=left_open(x))
    return followed(result, emulated.functions)


def _whole(step: Callable[[np.ndarray], np.ndarray], x: Any) -> Any:
    emulated = x.precision.emulated.whole if isinstance(x, Enclosure) else None
    return _stepped(WHOLE[emulated] if emulated else step, x)


def _spread_of_tanh(x: np.ndarray, y: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the error by the slope 1 - y*y, which is at most 4 exp(-2|x|) and 1, where the argument may be.

    It grows by exp(2e) at most on the way there, which is less than 1 + 2e + 4e*e for e up to 1/2. In float64, y*y is
    off by less than 2**-48; from 20 on, the slope itself is less than 2**-55.
    """
    twice = 2 * e
    if np.max(twice) > 1:
        return np.asarray(e * np.minimum(1.0, 4 * np.exp(-2 * _nearest(x, e))))
    slope = twice + 1.0
    slope *= twice
    slope += 1.0
    slope *= 1.0 - y * y
    slope += np.where(np.abs(x) < 20, 2.0**-48, 2.0**-55)
    return np.asarray(e * np.minimum(slope, 1.0))


def _stepped(step: Callable[[np.ndarray], np.ndarray], x: Any) -> Any:
    """Return a ``step`` function of each element, which rises only, and jumps.

    Where the argument is further from a jump than it may be off, the result is exact; elsewhere it may be off by the
    jump. Steps make no noise: an argument that is far enough off to jump jumps.
    """
    if not isinstance(x, Enclosure):
        return step(np.asarray(x))
    value = step(x.value)
    if x.is_exact and type(x.tail) is float:
        return Enclosure(value, x.precision)
    radius = x.radius + np.abs(x.tail)
    errors = np.zeros((4, *x.shape))
    # An implementation's error counts from the true argument, which is off by the radius itself.
    for row, reach in ((RADIUS, radius), (HARD, radius + x.hard), (BIAS, radius + x.drift)):
        above = np.where(reach > 0, np.nextafter(x.value + reach, np.inf), x.value)
        below = np.where(reach > 0, np.nextafter(x.value - reach, -np.inf), x.value)
        errors[row] = np.maximum(step(above) - value, value - step(below))
    return settled(value, x.precision, errors=errors, open_=left_open(x))


def _risen(power: Any, x: np.ndarray, y: np.ndarray, e: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return an upper bound of power(x + e) - y, where y is power(x) and ``exponent`` is e in units of exp.

    exp(e) - 1 is at most e + e*e up to 1.79; beyond, the difference itself is taken.
    """
    small = exponent <= 1
    near = y * (exponent + exponent * exponent)
    return near if small.all() else np.where(small, near, power(x + e) * (1 + 2.0**-40) - y)


def _nearest(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return how near to zero an argument x may lie that is off by e."""
    return np.maximum(np.abs(x) - e, 0.0)


def _over(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.where(numerator == 0, 0.0, numerator / denominator)


def _selected(choose: Any, x: Any, y: Any) -> Any:
    if not (isinstance(x, Enclosure) or isinstance(y, Enclosure)):
        return choose(x, y)
    precision = (x if isinstance(x, Enclosure) else y).precision
    a, b = lifted(x, precision), lifted(y, precision)
    value = choose(a.value, b.value)
    tail: Array = 0.0
    if type(a.tail) is not float or type(b.tail) is not float:
        tail = np.where((value == a.value) | np.isnan(value), a.tail, b.tail)
    if a.is_exact and b.is_exact:
        return Enclosure(value, precision, tail=tail)
    # The larger of two numbers moves no further than the one that moves more.
    errors = np.maximum(_aligned(a, value), _aligned(b, value))
    return settled(value, precision, tail=tail, errors=errors, open_=left_open(a) | left_open(b))


def _aligned(x: Enclosure, value: np.ndarray) -> Errors:
    errors = errors_in(x, np.shape(value))
    return column(np.ndim(value)) if type(errors) is float else errors


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": lambda x: functions.evaluate("erf", x, doubled=False)[0],
    "erfc": lambda x: functions.evaluate("erfc", x, doubled=False)[0],
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
