"""Arrays that know how wrong a correct kernel may be: value, certified radius, and two error bounds per element.

A contract's reference is written once over :class:`Enclosure` arrays; each operation on them carries four things:

``value``   the result in float64 (with a ``tail`` where it is known to twice that)
``radius``  proven: the true result is no further from ``value + tail`` than this
``hard``    no correct implementation of the contract errs by more
``drift``   a good one errs by less: as ``hard``, but n roundings of a sum grow like 6 sqrt(n) rather than n

The rules are those of running error analysis (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed.,
sections 3.1, 3.3, 4.2), with the units of the contract's :class:`~golden.precision.Precision`; the square root of n is
the probabilistic bound of Higham and Mary (SIAM J. Sci. Comput. 41, 2019). Where the order of operations decides
whether an intermediate result overflows, ``hard`` is infinite: the element is *open*, recorded and not judged.

The functions of this module take plain float64 arrays as well, and then return plain results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golden.dtypes import dtype_of
from golden.exact import UNIT, quantum_exponent, two_sum
from golden.exact import matmul as exact_matmul
from golden.precision import Precision
from golden.rounding import round_to_format

PROBABLE = 6.0
"""The c of the drift line c * sqrt(n) * u: six deviations of a random walk."""

_FEW = 256  # elements that are looked at before all are

Array = Any  # a float64 array, or a float that stands for one


class Enclosure:
    """A float64 array with bounds; see the module for their meaning. Bounds may be arrays or one float for all."""

    __slots__ = ("drift", "hard", "precision", "radius", "tail", "value")

    def __init__(
        self,
        value: np.ndarray,
        precision: Precision,
        *,
        tail: Array = 0.0,
        radius: Array = 0.0,
        hard: Array = 0.0,
        drift: Array | None = None,
    ) -> None:
        self.value = value
        self.precision = precision
        self.tail = tail
        self.radius = radius
        self.hard = hard
        self.drift = hard if drift is None else drift

    def __add__(self, other: Enclosure | float) -> Enclosure:
        return _sum_of_two(self, _lift(other, self.precision))

    def __sub__(self, other: Enclosure | float) -> Enclosure:
        return _sum_of_two(self, _negated(_lift(other, self.precision)))

    def __truediv__(self, other: Enclosure | float) -> Enclosure:
        return _quotient(self, _lift(other, self.precision))

    def __repr__(self) -> str:
        return f"Enclosure({self.value!r}, hard={self.hard!r})"


def maximum(x: Any, floor: float) -> Any:
    """Return the larger of each element and ``floor``; NaN propagates. A selection: exact."""
    if not isinstance(x, Enclosure):
        return np.maximum(x, floor)
    return Enclosure(np.maximum(x.value, floor), x.precision, radius=x.radius, hard=x.hard, drift=x.drift)


def amax(x: Any, axis: int) -> Any:
    """Return the largest element along ``axis`` (kept, with length 1); NaN propagates. A selection: exact."""
    if not isinstance(x, Enclosure):
        return np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    value = np.max(x.value, axis=axis, keepdims=True, initial=-np.inf)
    bounds = (np.max(_full(bound, x), axis=axis, keepdims=True, initial=0.0) for bound in (x.radius, x.hard, x.drift))
    radius, hard, drift = bounds
    return Enclosure(value, x.precision, radius=radius, hard=hard, drift=drift)


def exp(x: Any) -> Any:
    """Return the exponential of each element, as accurate as the precision's ``exp_ulp`` and ``exp_slope`` ask."""
    if not isinstance(x, Enclosure):
        return np.exp(x)
    value, precision = np.exp(x.value), x.precision
    # NumPy's own float64 exp is good to 4 ULP by its documentation of SIMD functions, twice as many units.
    radius = np.exp(x.value + x.radius) - value + 8 * UNIT * value
    argument = np.abs(np.nan_to_num(x.value, neginf=0.0))
    own = 2 * precision.unit * (precision.exp_ulp + precision.exp_slope * argument) + precision.kept_unit

    def bound(error: Array) -> Array:
        above = np.exp(x.value + error)
        return above - value + np.minimum(own, 1.0) * above + precision.underflow

    return _sealed(value, precision, radius=radius, hard=bound(x.hard), drift=bound(x.drift))


def total(x: Any, axis: int) -> Any:
    """Return the sum along ``axis`` (kept, with length 1), in any order of additions."""
    if not isinstance(x, Enclosure):
        return np.sum(x, axis=axis, keepdims=True)
    n, precision = x.value.shape[axis], x.precision
    value = np.sum(x.value, axis=axis, keepdims=True)
    magnitude = np.sum(np.abs(x.value), axis=axis, keepdims=True)
    radius, hard, drift = (np.sum(_full(bound, x), axis=axis, keepdims=True) for bound in (x.radius, x.hard, x.drift))
    radius = radius + n * UNIT * magnitude
    rounding_hard, rounding_drift = accumulation(n, magnitude + hard, precision)
    return _sealed(value, precision, radius=radius, hard=hard + rounding_hard, drift=drift + rounding_drift)


def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product of (..., m, k) and (..., k, n), both exact, summed in any order.

    Where all terms are multiples of one power of two and their magnitudes sum to fewer bits than the accumulator has,
    no order of additions rounds at all, and the bounds are zero: nothing but the exact result is right.
    """
    if not isinstance(a, Enclosure):
        return np.matmul(a, b)
    precision, k = a.precision, a.value.shape[-1]
    operands = [_operand(x.value, precision) for x in (a, b)]
    left, right = (_finite(x) for x in operands)
    value, tail, radius = exact_matmul(left, right)
    magnitude = np.matmul(np.abs(left), np.abs(right)) * (1 + (k + 2) * UNIT)
    hard, drift = accumulation(k, magnitude, precision)
    if precision.flushed and precision.dtype:
        # A term or a partial sum that is subnormal may be taken for zero, each at most the smallest normal number.
        lost = 2 * k * precision.dtype.smallest_normal
        hard, drift = hard + lost, drift + lost
    if not precision.flushed:
        unrounded = magnitude <= min(precision.largest, _unrounded_below(left, right, magnitude, precision))
        hard, drift = np.where(unrounded, 0.0, hard), np.where(unrounded, 0.0, drift)
    special = _special_products(*operands)
    overflows = (magnitude > precision.largest) & ~np.isnan(special)
    return _sealed(value + special, precision, open_=overflows, tail=tail, radius=radius, hard=hard, drift=drift)


def accumulation(n: int, magnitude: np.ndarray, precision: Precision) -> tuple[np.ndarray, np.ndarray]:
    """Return the hard and the drift bound of summing ``n`` terms whose magnitudes sum to ``magnitude``.

    Hard: n*u/(1 - n*u) times the magnitude (Higham 4.2, whatever the order; a product's rounding counts as one more).
    Drift: 6*sqrt(n)*u times it. Both infinite where the magnitude exceeds the accumulator's range.
    """
    unit = n * precision.unit
    with np.errstate(over="ignore"):
        hard = magnitude * (unit / (1 - unit) if unit < 1 else np.inf) + n * _flushed(precision)
        drift = np.minimum(hard, PROBABLE * np.sqrt(n) * precision.unit * magnitude + n * _flushed(precision))
    open_ = magnitude > precision.largest
    return np.where(open_, np.inf, hard), np.where(open_, np.inf, drift)


def _flushed(precision: Precision) -> float:
    """What one underflowing product may lose; a sum alone loses nothing, since subnormal sums are exact."""
    return precision.dtype.quantum if precision.dtype else 0.0


def _lift(x: Enclosure | float, precision: Precision) -> Enclosure:
    return x if isinstance(x, Enclosure) else Enclosure(np.asarray(float(x)), precision)


def _negated(x: Enclosure) -> Enclosure:
    return Enclosure(-x.value, x.precision, tail=-x.tail, radius=x.radius, hard=x.hard, drift=x.drift)


def _sum_of_two(a: Enclosure, b: Enclosure) -> Enclosure:
    value, tail = two_sum(a.value, b.value)
    tail = tail + a.tail + b.tail
    radius = a.radius + b.radius
    unit = a.precision.unit

    def bound(x: Array, y: Array) -> Array:
        return x + y + unit * (np.abs(value) + x + y)

    return _sealed(
        value, a.precision, tail=tail, radius=radius, hard=bound(a.hard, b.hard), drift=bound(a.drift, b.drift)
    )


def _quotient(a: Enclosure, b: Enclosure) -> Enclosure:
    value, precision = a.value / b.value, a.precision
    size, own = np.abs(value), 2 * precision.unit * precision.divide_ulp

    def bound(x: Array, y: Array) -> Array:
        spread = (x + size * y) / np.maximum(np.abs(b.value) - y, 0.0)
        return spread + own * (size + spread) + precision.underflow

    radius = (a.radius + size * b.radius) / np.maximum(np.abs(b.value) - b.radius, 0.0) + UNIT * size
    return _sealed(value, precision, radius=radius, hard=bound(a.hard, b.hard), drift=bound(a.drift, b.drift))


def _sealed(
    value: np.ndarray,
    precision: Precision,
    *,
    hard: Array,
    drift: Array,
    radius: Array,
    tail: Array = 0.0,
    open_: np.ndarray | bool = False,
) -> Enclosure:
    """Make an enclosure of a result: give it the compute dtype's range, and special values no bounds.

    A finite result beyond the range is the infinity that any implementation gets there, unless the bounds leave it
    within reach of the range: then it is open, as are the elements that ``open_`` names.
    """
    finite = np.isfinite(value)
    hard, drift = np.where(finite, hard, 0.0), np.where(finite, drift, 0.0)
    radius, tail = np.where(finite, radius, 0.0), np.where(finite, tail, 0.0)
    if precision.largest < np.inf:
        beyond = finite & (np.abs(value) > precision.largest)
        if beyond.any():
            certain = beyond & (np.abs(value) - hard > precision.largest)
            value = np.where(certain, np.copysign(np.inf, value), value)
            hard = np.where(certain, 0.0, np.where(beyond, np.inf, hard))
            drift = np.where(certain, 0.0, np.where(beyond, np.inf, drift))
    # A NaN bound means that inf and zero met while it was computed: nothing is known of that element.
    hard, drift = np.where(open_ | np.isnan(hard), np.inf, hard), np.where(open_ | np.isnan(drift), np.inf, drift)
    return Enclosure(value, precision, tail=tail, radius=radius, hard=hard, drift=drift)


def _full(bound: Array, x: Enclosure) -> np.ndarray:
    return np.broadcast_to(bound, x.value.shape)


def _operand(x: np.ndarray, precision: Precision) -> np.ndarray:
    if precision.flushed:
        x = np.where(np.abs(x) < dtype_of(precision.flushed).smallest_normal, 0.0 * x, x)
    if not precision.operands or not precision.dtype:
        return x
    # A format as tf32 has fewer bits and the same exponents, so that its subnormal numbers are fewer as well.
    bits, mode = precision.operands
    largest = (2.0 - 2.0 ** (1 - bits)) * 2.0**precision.dtype.emax
    return round_to_format(x, bits, precision.dtype.emin, largest, mode)


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)


def _unrounded_below(left: np.ndarray, right: np.ndarray, magnitude: np.ndarray, precision: Precision) -> float:
    """Return up to which sum of magnitudes no sum of products of ``left`` and ``right`` is ever rounded."""
    if not magnitude.size:
        return 0.0
    # A few elements bound the quantum of all from above; mostly they show that it is too small already.
    for a, b in ((left.ravel()[:_FEW], right.ravel()[:_FEW]), (left, right)):
        exponents = quantum_exponent(a), quantum_exponent(b)
        known = [exponent for exponent in exponents if exponent is not None]
        if precision.dtype and len(known) == 2 and np.ldexp(1.0, sum(known)) < precision.dtype.quantum:
            return 0.0  # finer than the subnormal numbers of the accumulator
        limit = 2.0 ** min(sum(known) + precision.significand - 1, 1023) if len(known) == 2 else np.inf
        if limit < magnitude.min():
            return 0.0
    return limit


def _special_products(a: np.ndarray, b: np.ndarray) -> np.ndarray | float:
    """Return what infinities and NaN add to each element of the product a @ b: 0, an infinity or NaN.

    Counted with products of indicators rather than left to the BLAS, which may skip a zero that meets an infinity.
    """
    if np.isfinite(a).all() and np.isfinite(b).all():
        return 0.0
    plus = _count(a == np.inf, b > 0) + _count(a == -np.inf, b < 0) + _count(a > 0, b == np.inf)
    plus += _count(a < 0, b == -np.inf)
    minus = _count(a == np.inf, b < 0) + _count(a == -np.inf, b > 0) + _count(a < 0, b == np.inf)
    minus += _count(a > 0, b == -np.inf)
    everywhere_a, everywhere_b = np.ones(a.shape), np.ones(b.shape)
    nan = _count(np.isnan(a), everywhere_b) + _count(everywhere_a, np.isnan(b))
    nan += _count(np.isinf(a), b == 0) + _count(a == 0, np.isinf(b))
    infinite = np.where(plus > 0, np.inf, np.where(minus > 0, -np.inf, 0.0))
    return np.where((nan > 0) | ((plus > 0) & (minus > 0)), np.nan, infinite)


def _count(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.matmul(left.astype(np.float64), right.astype(np.float64))
