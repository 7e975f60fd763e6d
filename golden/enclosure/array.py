"""The enclosure: a float64 array with what is known of its errors, and the four operations of arithmetic on it.

``value``   the result in float64; where the computation itself is in float64, with a ``tail`` that doubles its bits
``radius``  proven: the true result is no further from ``value + tail`` than this
``hard``    no correct implementation of the contract errs by more
``noise``   the standard deviation that the independent roundings of a good implementation have at most
``bias``    the systematic error that it may have: of a function's approximation, of a rounding that many elements share
``drift``   a good implementation errs by less: its bias and six deviations of its noise, and never more than ``hard``

The four errors follow the same rules, those of running error analysis (Higham, *Accuracy and Stability of Numerical
Algorithms*, 2nd ed., sections 3.1, 3.3, 4.2), and differ in what each operation adds of its own. That the roundings of
a sum of n grow like the square root of n is the probabilistic analysis of Higham and Mary (SIAM J. Sci. Comput. 41,
2019). Where the order of operations decides whether an intermediate result overflows, ``hard`` is infinite: the element
is *open*, recorded and not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from golden.doubled import UNIT, two_product, two_sum
from golden.dtypes import decode, dtype_of, encode
from golden.enclosure.errors import BIAS, HARD, NOISE, RADIUS, Errors, Row, carried
from golden.precision import Precision

PROBABLE = 6.0
"""How many deviations of its noise a good implementation stays below."""

UNIFORM = 3.0**-0.5
"""Standard deviation of a rounding error, as a share of its largest value: it is spread evenly."""

T = TypeVar("T")

Array = Any
"""A float64 array, or a plain 0.0 that stands for one (plain: NumPy's scalars are floats too, and may be a tail)."""


class Enclosure:
    """A float64 array with its errors: 0.0 where it is exact, else four rows; see the module."""

    __slots__ = ("_answers", "_open", "errors", "precision", "tail", "value")
    __array_ufunc__ = None  # an operator with a plain array on its left is ours too

    def __init__(self, value: np.ndarray, precision: Precision, *, tail: Array = 0.0, errors: Array = 0.0) -> None:
        self.value = value
        self.precision = precision
        self.tail = tail
        self.errors = Errors.of(errors) if isinstance(errors, np.ndarray) else errors
        self._open: np.ndarray | bool | None = None
        self._answers: dict[tuple[Any, ...], Any] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def is_exact(self) -> bool:
        """Whether nothing has been rounded yet: the value is the true one, and every implementation has it."""
        return type(self.errors) is float

    @property
    def radius(self) -> Array:
        return self.row(RADIUS)

    @property
    def hard(self) -> Array:
        return self.row(HARD)

    @property
    def noise(self) -> Array:
        return self.row(NOISE)

    @property
    def bias(self) -> Array:
        return self.row(BIAS)

    @property
    def drift(self) -> Array:
        return np.minimum(self.hard, self.bias + PROBABLE * self.noise)

    @property
    def open(self) -> np.ndarray | bool:
        """Which elements are open; False for none."""
        if self._open is None:
            open_ = False if self.is_exact else np.isinf(self.hard)
            self._open = open_ if np.any(open_) else False
        return self._open

    def once(self, question: Callable[..., T], *details: Any) -> T:
        """Return the answer to a ``question`` about the value, which is asked once: operands are used many times."""
        key = question, *details
        if key not in self._answers:
            self._answers[key] = question(self.value, *details)
        answer: T = self._answers[key]
        return answer

    def row(self, row: int) -> Array:
        """Return one of the four errors, as an array or a plain number that all elements have."""
        return 0.0 if self.is_exact else self.errors.rows[row]

    def __add__(self, other: Any) -> Enclosure:
        return _sum(self, lifted(other, self.precision))

    def __radd__(self, other: Any) -> Enclosure:
        return _sum(lifted(other, self.precision), self)

    def __sub__(self, other: Any) -> Enclosure:
        return _sum(self, -lifted(other, self.precision))

    def __rsub__(self, other: Any) -> Enclosure:
        return _sum(lifted(other, self.precision), -self)

    def __mul__(self, other: Any) -> Enclosure:
        return _product(self, lifted(other, self.precision))

    def __rmul__(self, other: Any) -> Enclosure:
        return _product(lifted(other, self.precision), self)

    def __truediv__(self, other: Any) -> Enclosure:
        return _quotient(self, lifted(other, self.precision))

    def __rtruediv__(self, other: Any) -> Enclosure:
        return _quotient(lifted(other, self.precision), self)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.value, self.precision, tail=-self.tail, errors=self.errors)

    def __repr__(self) -> str:
        return f"Enclosure({self.value!r}, errors={self.errors!r})"


def lifted(x: Any, precision: Precision) -> Enclosure:
    """Return ``x`` as an enclosure; plain numbers are exact."""
    return x if isinstance(x, Enclosure) else Enclosure(np.asarray(x, np.float64), precision)


def numbers(x: Any) -> np.ndarray:
    """Return the values of ``x`` as plain float64, to make masks of."""
    return x.value if isinstance(x, Enclosure) else np.asarray(x)


def constant(number: float, like: Any, *, rest: float = 0.0) -> Any:
    """Return ``number + rest`` as implementations have it that compute as ``like`` is computed: rounded to that dtype.

    ``rest`` is what float64 cannot hold of an irrational number.
    """
    if not isinstance(like, Enclosure):
        return number
    kind, value = like.precision.dtype, np.asarray(number)
    tail = np.asarray(rest) if rest and like.precision.doubled else 0.0
    if kind is None or (rest == 0 and float(decode(encode(value, kind.name), kind.name)) == number):
        return Enclosure(value, like.precision, tail=tail)
    relative = column(0, radius=4 * UNIT**2 if like.precision.doubled else UNIT, hard=kind.unit, bias=kind.unit)
    return Enclosure(value, like.precision, tail=tail, errors=relative * abs(number))


def either(x: Any, y: Any) -> Any:
    """Return ``x``, with room for implementations that compute it as ``y``, another form of the same formula.

    Where steps are followed, the forms differ by more than roundings, and the emulation says which it is.
    """
    if not isinstance(x, Enclosure):
        return x
    if x.precision.emulated.otherwise:
        x, y = y, x
    errors = _at_least(x.errors, y.errors)
    if type(errors) is not float:
        errors[RADIUS] = x.radius
    return settled(x.value, x.precision, tail=x.tail, errors=errors, open_=left_open(x) | left_open(y))


def _at_least(one: Array, other: Array) -> Array:
    """Return the larger of the errors of two, row by row."""
    return np.maximum(one, other) if isinstance(one, Errors) or isinstance(other, Errors) else 0.0


def column(rank: int, *, radius: float = 0.0, hard: float = 0.0, noise: float = 0.0, bias: float = 0.0) -> Errors:
    """Return the four errors, each the same for all elements of an array of ``rank`` axes."""
    return Errors(rank, (float(radius), float(hard), float(noise), float(bias)))


def rows(shape: tuple[int, ...], *, radius: Row = 0.0, hard: Row = 0.0, noise: Row = 0.0, bias: Row = 0.0) -> Errors:
    """Return the four errors of an array of ``shape``; each may be an array or one number for all."""
    return Errors(len(shape), (radius, hard, noise, bias))


def rounding(precision: Precision, rank: int, magnitude: Row, underflow: Row = 0.0) -> Errors:
    """Return the errors of correctly rounded operations, of results of ``magnitude`` that may lose ``underflow``."""
    if type(magnitude) is float and magnitude == 0:
        return Errors(rank, (0.0, underflow, 0.0, underflow))
    own = 4 * UNIT**2 if precision.doubled else UNIT
    hard = precision.unit * magnitude
    noise = UNIFORM * hard
    if type(underflow) is not float or underflow:
        hard += underflow
    return Errors(rank, (own * magnitude, hard, noise, underflow))


def errors_in(x: Enclosure, shape: tuple[int, ...]) -> Array:
    """Return the errors of operand ``x`` of a result of ``shape``.

    What many elements of the result share is no noise: it does not average out between them, so it counts as bias.
    Where tails are not kept, that of ``x`` goes into its radius.
    """
    errors = x.errors
    if not x.precision.doubled and type(x.tail) is not float:
        errors = errors + column(np.ndim(x.value), radius=1.0) * np.abs(x.tail)
    if type(errors) is float or x.shape == shape:
        return errors
    return Errors(len(shape), shared(errors).rows)


def shared(errors: Errors | np.ndarray) -> Errors:
    """Return ``errors`` of elements that come more than once: their noise, six deviations of it, counts as bias."""
    errors = errors if isinstance(errors, Errors) else Errors.of(errors)
    radius, hard, noise, bias = errors.rows
    if type(noise) is not float or noise:
        bias = np.minimum(hard, bias + PROBABLE * noise)
    return Errors(errors.rank, (radius, hard, 0.0, bias))


def left_open(x: Enclosure) -> np.ndarray | bool:
    """Return which elements of ``x`` are open; whatever is computed from them is open too."""
    return x.open


def perhaps_zero(x: Enclosure) -> np.ndarray:
    """Return which elements are computed numbers that an implementation may have as zero."""
    hard = np.broadcast_to(x.hard, x.shape)
    return (hard > 0) & (np.abs(x.value) <= hard)


def settled(
    value: np.ndarray, precision: Precision, *, errors: Array, tail: Array = 0.0, open_: np.ndarray | bool = False
) -> Enclosure:
    """Return the enclosure of a result: within the compute dtype's range, special values without errors.

    A finite result beyond the range is the infinity that any implementation gets there, unless the bounds leave it
    within reach of the range: then it is open, as are the elements that ``open_`` names.
    """
    value = np.asarray(value)
    errors = Errors.of(errors) if isinstance(errors, np.ndarray) else errors
    if not value.size:
        return Enclosure(value, precision)
    least, most = value.min(), value.max()
    ordinary = -precision.largest <= least and most <= precision.largest and np.isfinite(most - least)
    plain = type(errors) is float
    certain = open_ is False or not np.any(open_)
    if ordinary and certain and (plain or _within_range(errors)):
        result = Enclosure(value, precision, tail=tail, errors=errors)
        result._open = False
        result._answers[all_finite,] = True
        return result
    errors = errors if plain else np.asarray(errors)
    finite = np.isfinite(value)
    tail = 0.0 if type(tail) is float else np.where(finite, tail, 0.0)
    if plain and certain and not (finite & (np.abs(value) > precision.largest)).any():
        return Enclosure(value, precision, tail=tail)
    errors = np.where(finite, errors if not plain else np.zeros((4, *[1] * value.ndim)), 0.0)
    # A NaN bound means that inf and zero met while it was computed: nothing is known of that element.
    unknown = np.broadcast_to(open_, value.shape) | ~np.isfinite(errors).all(0)
    beyond = finite & (np.abs(value) > precision.largest)
    sure = beyond & (np.abs(value) - errors[HARD] > precision.largest)
    value = np.where(sure, np.copysign(np.inf, value), value)
    errors = np.where(sure, 0.0, errors)
    unknown = unknown | (beyond & ~sure)
    errors[:, unknown] = 0.0
    errors[HARD, unknown] = errors[BIAS, unknown] = np.inf
    return Enclosure(value, precision, tail=tail, errors=errors)


def all_finite(value: np.ndarray) -> bool:
    """Return whether there is neither an infinity nor a NaN in ``value``."""
    return bool(np.isfinite(value).all())


def _within_range(errors: Errors) -> bool:
    # Noise and bias are finite wherever the hard bound is: they are carried on as it is, and never larger.
    return all((row if type(row) is float else row.max()) < np.inf for row in (errors.hard, errors.radius))


def opened(x: Any, where: np.ndarray) -> Any:
    """Return ``x`` with the elements ``where`` left open: the contract promises nothing there."""
    if not isinstance(x, Enclosure):
        return x
    return settled(x.value, x.precision, errors=x.errors, tail=x.tail, open_=where | left_open(x))


def rounded(x: Any, dtype: str) -> Any:
    """Return ``x`` as it is if it is kept in ``dtype`` for a while: implementations may round it to that, or not."""
    if not isinstance(x, Enclosure):
        return x
    kind = dtype_of(dtype)
    own = np.where(x.value == 0, 0.0, kind.unit * np.abs(x.value) + kind.quantum / 2)
    errors = x.errors * (1 + kind.unit) + rows(x.shape, hard=own, noise=UNIFORM * own)
    return settled(x.value, x.precision, tail=x.tail, errors=errors, open_=left_open(x))


def _renormalized(value: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return value and tail so that the value is their sum, rounded; special values have no tail."""
    return two_sum(value, np.where(np.isfinite(value), tail, 0.0))


def _grown(precision: Precision) -> float:
    """Return by what the errors grow that an operation carries on from its operands, as they round with its result."""
    return 1.0 + precision.unit


def _has_tail(*operands: Enclosure) -> bool:
    return not all(type(one.tail) is float for one in operands)


def _sum(a: Enclosure, b: Enclosure) -> Enclosure:
    precision = a.precision
    tail: Array = 0.0
    if precision.doubled:
        value, tail = two_sum(a.value, b.value)
        if _has_tail(a, b):
            value, tail = _renormalized(value, tail + (a.tail + b.tail))
    else:
        value = a.value + b.value
    shape = np.shape(value)
    errors = errors_in(a, shape) + errors_in(b, shape)
    if precision.dtype:
        own = rounding(precision, len(shape), _inexact(value, tail, a, b))
        errors = carried(errors, _grown(precision), own)
        if precision.doubled and _has_tail(a, b):
            errors[RADIUS] = errors.radius + 4 * UNIT**2 * (np.abs(a.value) + np.abs(b.value))
    return settled(value, precision, tail=tail, errors=errors, open_=left_open(a) | left_open(b))


def _product(a: Enclosure, b: Enclosure) -> Enclosure:
    precision = a.precision
    value = a.value * b.value
    tail: Array = 0.0
    unsplit: Array = 0.0
    if precision.doubled:
        tail = two_product(a.value, b.value)[1]
        # Operands near the end of the range cannot be split: what the product lost is then not known.
        unsplit = np.where(np.isfinite(tail), 0.0, UNIT * np.abs(value))
        tail = np.where(np.isfinite(tail), tail, 0.0)
        value, tail = _renormalized(value, tail + (a.value * b.tail + a.tail * b.value))
    shape = np.shape(value)
    own = rounding(precision, len(shape), _inexact(value, tail, a, b), _underflow(a, b, value))
    if precision.doubled:
        own[RADIUS] = own.radius + (unsplit + 2.0**-1060)
    return settled(value, precision, tail=tail, errors=_of_factors(a, b, shape, own), open_=_doubtful(a, b))


def _underflow(a: Enclosure, b: Enclosure, value: np.ndarray) -> Row:
    """Return what products of ``value`` lose that underflow; none of those with zero does."""
    least = a.precision.underflow
    if not least or np.all(value):  # then no factor is zero either
        return least
    return least * ((a.value != 0) & (b.value != 0))


def _of_factors(a: Enclosure, b: Enclosure, shape: tuple[int, ...], own: Errors) -> Errors:
    """Return the errors of a product that makes its ``own``: e|b| + f|a| + ef, f being the hard bound there."""
    of_a, of_b, grown = errors_in(a, shape), errors_in(b, shape), _grown(a.precision)
    if type(of_a) is float:
        return carried(of_b, grown * np.abs(a.value), own)
    if a is b:
        return carried(of_a, grown * (2 * np.abs(a.value) + of_a.hard), own)
    reach = np.abs(b.value) if type(of_b) is float else np.abs(b.value) + of_b.hard
    return carried(of_b, grown * np.abs(a.value), carried(of_a, grown * reach, own))


def _doubtful(a: Enclosure, b: Enclosure) -> np.ndarray | bool:
    """Return which products are open: what may be 0 makes NaN with an infinity, or does not."""
    if a.is_exact and b.is_exact:
        return False
    open_ = left_open(a) | left_open(b)
    if a.once(all_finite) and b.once(all_finite):
        return open_
    return open_ | (perhaps_zero(a) & np.isinf(b.value)) | (np.isinf(a.value) & perhaps_zero(b))


def _inexact(value: np.ndarray, tail: Array, a: Enclosure, b: Enclosure) -> Row:
    """Return the magnitude of the results that are rounded: of exact operands, those that the dtype cannot hold."""
    kind = a.precision.dtype
    if kind is None or not (a.is_exact and b.is_exact):
        return np.abs(value)
    held = np.asarray(tail == 0 if a.precision.doubled else value.astype(kind.storage) == value)
    return 0.0 if held.all() else np.abs(value) * ~held


def _quotient(a: Enclosure, b: Enclosure) -> Enclosure:
    precision = a.precision
    value = a.value / b.value
    tail: Array = 0.0
    unsplit: Array = 0.0
    if precision.doubled:
        product, lost = two_product(value, b.value)
        rest = ((a.value - product) - lost) + (a.tail - value * b.tail)
        # As of products, operands near the end of the range cannot be split.
        unsplit = np.where(np.isfinite(rest) | ~np.isfinite(value), 0.0, UNIT * np.abs(value))
        tail = np.where(np.isfinite(rest) & np.isfinite(value), rest / b.value, 0.0)
    shape, size = np.shape(value), np.abs(value)
    of_a, of_b = errors_in(a, shape), errors_in(b, shape)
    distance = np.abs(b.value) if type(of_b) is float else np.maximum(np.abs(b.value) - of_b.hard, 0.0)
    own = asked(precision, "divide", size)
    if precision.doubled:
        own[RADIUS] = own.radius + unsplit
    grown = _grown(precision)
    errors = carried(of_b, grown * size / distance, carried(of_a, grown / distance, own))
    open_ = ((distance == 0) & (b.value != 0)) | left_open(a) | left_open(b)
    return settled(value, precision, tail=tail, errors=errors, open_=open_)


def asked(
    precision: Precision, function: str, size: np.ndarray, argument: Array = 0.0, radius: Row | None = None
) -> Errors:
    """Return the errors of a function that is as accurate as the precision asks, whose results have ``size``.

    One that is rounded correctly makes noise; the error of an approximation is the same whenever its argument is. A
    result may be flushed to zero. ``argument`` is the magnitude of the function's, for accuracies that depend on it.
    ``radius`` is golden's own, if that is not of one rounding.
    """
    accuracy = precision.accuracy(function)
    least = precision.underflow + accuracy.absolute
    if radius is None:
        # Beside the smallest float64, the one rounding of a result is no share of it.
        radius = (4 * UNIT**2 if precision.doubled else UNIT) * size + 2.0**-1060
    if accuracy.ulp <= 0.5:
        hard = precision.unit * size
        return rows(np.shape(size), radius=radius, hard=hard + least, noise=UNIFORM * hard, bias=least)
    ulp = 2 * precision.unit
    share = ulp * accuracy.ulp + (ulp * accuracy.slope * argument if accuracy.slope else 0.0)
    hard = np.minimum(share, 1.0) * size + least
    return rows(np.shape(size), radius=radius, hard=hard, bias=hard)
