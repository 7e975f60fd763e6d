"""Matrix products, of exact operands and of computed ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golden.doubled import UNIT, two_sum
from golden.dtypes import decode, dtype_of, encode
from golden.enclosure.array import (
    Array,
    Enclosure,
    all_finite,
    column,
    errors_in,
    left_open,
    lifted,
    perhaps_zero,
    rounded,
    rows,
    settled,
    shared,
)
from golden.enclosure.elementwise import followed, kept
from golden.enclosure.errors import RADIUS, Errors, Row, rowwise
from golden.enclosure.reductions import accumulation, of_one_addition, one_sided, repeats, total, unrounded_below
from golden.exact import Scale, scale
from golden.exact import matmul as exact_matmul
from golden.precision import Precision
from golden.rounding import round_to_format

_FEW = 256  # elements that are looked at before all are
_PART = 2**14  # elements that are looked at at a time, so that what is made of them is small


def matmul(a: Any, b: Any, plus: Any = None) -> Any:
    """Return the matrix product of (..., m, k) and (..., k, n), summed in any order.

    ``plus``, which is exact and broadcasts to the product, is one more term of every sum: a bias, or what a product is
    accumulated into.
    """
    if not isinstance(a, Enclosure) and not isinstance(b, Enclosure):
        return np.matmul(a, b) if plus is None else np.matmul(a, b) + plus
    precision = (a if isinstance(a, Enclosure) else b).precision
    a, b = _fed(lifted(a, precision)), _fed(lifted(b, precision))
    of_a, of_b = a.once(_taken, precision, -1), b.once(_taken, precision, -2)
    left, right = of_a.finite, of_b.finite
    product = exact_matmul(left, right, doubled=precision.doubled, scales=(of_a.scale, of_b.scale))
    value, tail, magnitude = product.value, product.tail, product.magnitude
    if sums := precision.emulated.unit or precision.emulated.sums:
        value, tail = sums.products(left, right), np.zeros_like(value)
    aligned, terms = _aligned(left, right, magnitude, precision), left.shape[-1]
    addend = None if plus is None else lifted(plus, precision).value
    if addend is not None:
        value, low = two_sum(value, _finite(addend))
        tail, size, terms = tail + low, np.abs(_finite(addend)), terms + 1
        magnitude, aligned = magnitude + size, aligned + size
    errors = accumulation(terms, aligned, precision, products=True)
    if repeats(left, -1) and repeats(right, -2):
        errors = one_sided(errors)
    if addend is not None:
        # What the sum loses of an addend that comes to many elements, it loses in all of them.
        errors = errors + rows(value.shape, radius=2 * UNIT**2 * magnitude, bias=precision.unit * np.abs(value))
    if sums:
        errors = of_one_addition(sums, magnitude)
    if a.is_exact and b.is_exact and not precision.flushed and _parts(precision) == 1:
        rounded_ = aligned > _unrounded(left, right, aligned, precision)
        if addend is not None:
            rounded_ |= aligned > unrounded_below(precision, _finite(addend))
        errors = errors if rounded_.all() else errors * rounded_
    else:
        errors = errors + _of_operands(a, b, left, right) + _of_splitting(precision, magnitude)
        errors = errors + _of_flushing(precision, left.shape[-1], magnitude.ndim)
    errors[RADIUS] = errors.radius + product.radius
    if not (type(a.tail) is float and type(b.tail) is float):
        tail = tail + (np.matmul(np.broadcast_to(a.tail, left.shape), right) if type(a.tail) is not float else 0.0)
        tail = tail + (np.matmul(left, np.broadcast_to(b.tail, right.shape)) if type(b.tail) is not float else 0.0)
        # Each of the two products rounds k terms that are below the unit roundoff of the products'.
        errors[RADIUS] = errors.radius + 4 * (left.shape[-1] + 4) * UNIT**2 * magnitude
    special = _special_products(of_a, of_b) + (0.0 if addend is None else addend - _finite(addend))
    open_ = (magnitude > precision.largest_sum) & ~np.isnan(special)
    value = value if type(special) is float else value + special
    return settled(value, precision, open_=open_ | _doubtful(a, b), tail=tail, errors=errors)


def averaged(weights: Any, v: Any) -> Any:
    """Return the product of ``weights`` (..., m, k) over their sum and ``v`` (..., k, n).

    The product is divided by the sum; where the emulation writes formulas otherwise, the weights are, before it.
    """
    total_ = total(weights, -1)
    if isinstance(weights, Enclosure) and weights.precision.emulated.otherwise:
        return matmul(kept(weights / total_), v)
    return matmul(kept(weights), v) / total_


def _aligned(left: np.ndarray, right: np.ndarray, magnitude: np.ndarray, precision: Precision) -> np.ndarray:
    """Return the magnitude that the terms have where a matrix unit lines them up, going by their operands' exponents.

    Units that round their operands do not normalize subnormal ones, which count as the smallest normal number: a sum
    with such a term keeps as many bits less as that is larger.
    """
    if not precision.operands or not precision.dtype:
        return magnitude
    least, sizes = precision.dtype.smallest_normal, (np.abs(left), np.abs(right))
    if not any(((size > 0) & (size < least)).any() for size in sizes):
        return magnitude
    return np.matmul(*(np.where(size > 0, np.maximum(size, least), 0.0) for size in sizes))


def _doubtful(a: Enclosure, b: Enclosure) -> np.ndarray | bool:
    """Return where an open element takes part, or an infinity meets a number that may have underflowed to 0."""
    if a.is_exact and b.is_exact:
        return False
    rows, columns = (np.broadcast_to(left_open(x), x.shape) for x in (a, b))
    open_ = np.asarray(rows.any(-1, keepdims=True) | columns.any(-2, keepdims=True))
    if a.once(all_finite) and b.once(all_finite):
        return open_
    meetings = _count(perhaps_zero(a), np.isinf(b.value)) + _count(np.isinf(a.value), perhaps_zero(b))
    return open_ | (meetings > 0)


def _fed(x: Enclosure) -> Enclosure:
    """Return an operand as a matrix unit is fed with it: what was computed may be rounded to the tensors' own dtype."""
    computed = not x.is_exact or (x.precision.fed and not x.once(_held, x.precision.fed))
    emulated = x.precision.emulated
    if rounding := emulated.operands or (emulated.computed if computed else None):
        return followed(x, rounding)
    return rounded(x, x.precision.fed) if x.precision.fed and computed else x


def _held(value: np.ndarray, dtype: str) -> bool:
    for part in np.array_split(np.ravel(value), 1 + value.size // _PART):
        same = decode(encode(part, dtype), dtype) == part
        if not (same.all() or (same | np.isnan(part)).all()):
            return False
    return True


def _of_operands(a: Enclosure, b: Enclosure, left: np.ndarray, right: np.ndarray) -> Array:
    """Return what the operands' own errors make in the product: systematic ones add up, noise averages out.

    An element of an operand takes part in a whole row or column of the product, so that its noise is bias there.
    """
    of_a, of_b = _errors(a, -1), _errors(b, -2)
    size_a, size_b = np.abs(left), np.abs(right)
    reach = size_a + of_a.hard
    systematic = rowwise(lambda x, y: _matmul(x, size_b) + _matmul(reach, y), of_a, of_b)
    noise = np.sqrt(_matmul(np.square(of_a.noise), size_b**2) + _matmul(size_a**2, np.square(of_b.noise)))
    return shared(Errors(systematic.rank, (systematic.radius, systematic.hard, noise, systematic.bias)))


def _matmul(x: Row, y: Row) -> Row:
    """Return the product of two matrices; plain zeros stand for a matrix of them."""
    return 0.0 if np.ndim(x) == 0 or np.ndim(y) == 0 else np.matmul(x, y)


def _errors(x: Enclosure, axis: int) -> Errors:
    """Return the errors of the finite elements of an operand; ``axis`` is the one that is summed over."""
    errors = errors_in(x, x.shape)
    if type(errors) is float:
        return column(np.ndim(x.value))
    finite = np.isfinite(x.value)
    errors = errors.each(lambda row: np.where(finite, row, 0.0))
    return shared(errors) if repeats(x.value, axis) else errors


def _of_splitting(precision: Precision, magnitude: np.ndarray) -> Array:
    """Return what is lost of operands in two parts: the rest of each, and the product of the two second parts."""
    if _parts(precision) == 1 or not precision.operands:
        return 0.0
    lost = 3 * 2.0 ** (-2 * precision.operands.bits)
    return column(magnitude.ndim, hard=lost, bias=lost) * magnitude


def _of_flushing(precision: Precision, k: int, rank: int) -> Array:
    """Return what is lost of terms and partial sums that are subnormal: each at most the smallest normal number."""
    if not precision.flushed or not precision.dtype:
        return 0.0
    lost = 2 * k * precision.dtype.smallest_normal
    return column(rank, hard=lost, bias=lost)


def _parts(precision: Precision) -> int:
    return precision.operands.parts if precision.operands else 1


class _Taken(NamedTuple):
    """An operand as a matrix unit takes it: all of it, and with zeros for what is not finite; and the scale of that."""

    whole: np.ndarray
    finite: np.ndarray
    scale: Scale


def _taken(value: np.ndarray, precision: Precision, axis: int) -> _Taken:
    """Return an operand of this ``value``, of which ``axis`` is summed over."""
    whole = _operand(value, precision)
    finite = _finite(whole)
    return _Taken(whole, finite, scale(finite, axis))


def _operand(x: np.ndarray, precision: Precision) -> np.ndarray:
    if precision.flushed:
        x = np.where(np.abs(x) < dtype_of(precision.flushed).smallest_normal, 0.0 * x, x)
    if not precision.operands or precision.operands.parts > 1 or not precision.dtype:
        return x
    # A format as tf32 has fewer bits and the same exponents, so that its subnormal numbers are fewer as well.
    bits, mode, _ = precision.operands
    largest = (2.0 - 2.0 ** (1 - bits)) * 2.0**precision.dtype.emax
    return round_to_format(x, bits, precision.dtype.emin, largest, mode)


def _finite(x: np.ndarray) -> np.ndarray:
    return x if np.isfinite(x).all() else np.where(np.isfinite(x), x, 0.0)


def _unrounded(left: np.ndarray, right: np.ndarray, magnitude: np.ndarray, precision: Precision) -> float:
    """Return up to which sum of magnitudes no sum of products of ``left`` and ``right`` is ever rounded."""
    if not magnitude.size:
        return 0.0
    # A few elements bound the quantum of all from above; mostly they show that it is too small already.
    few = unrounded_below(precision, left.ravel()[:_FEW], right.ravel()[:_FEW])
    return few if few < magnitude.min() else unrounded_below(precision, left, right)


def _special_products(left: _Taken, right: _Taken) -> np.ndarray | float:
    """Return what infinities and NaN add to each element of the product a @ b: 0, an infinity or NaN.

    Counted with products of indicators rather than left to the BLAS, which may skip a zero that meets an infinity.
    """
    if left.whole is left.finite and right.whole is right.finite:
        return 0.0
    a, b = left.whole, right.whole
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
