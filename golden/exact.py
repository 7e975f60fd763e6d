"""Sums and products of float64 arrays, exact or with a proven radius.

A matrix product splits its operands into slices of few bits, so that the float64 products of leading slices are exact
whatever the BLAS, its order and its use of fused multiply-add (Ozaki, Ogita, Oishi, Rump, "Error-free transformations
of matrix multiplication by using fast routines of matrix multiplication", Numerical Algorithms 59, 2012). What the
leading slices leave is small, so that its products may be rounded: their error is bounded as for any order of additions
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.5). So two machines' products differ by their radius
at most. Sums are added up in a fixed order and are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from golden.doubled import UNIT, two_sum

Factor = np.ndarray | None
"""Part of an operand or of a product; None where it is zero."""

Scale = tuple[np.ndarray, bool]
"""Powers of two above every magnitude of a row or a column, and whether any is far from 1."""

Rows = tuple[Any, ...]
"""Index of some rows of an array, along its last axis but one."""

Sum = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Value, tail and radius: the true sum lies within the radius of value + tail."""

_TILE = 2**17  # elements of the right operand taken apart at a time, so that its slices are small
_BLOCK = 2**14  # elements that one pass after the other is made over while they are in the cache
_SUMMED = 2**16  # elements that are added up at a time: more, since the last passes are over few of them

_FRACTION = np.int64(2**52 - 1)  # the bits of a float64 below its exponent

_FAR = 400
"""While the largest elements are between 2**-_FAR and 2**_FAR, neither slices nor products of them leave the range."""

_CLEAR = 2.0**-80
"""From here on, a float32 sum of products of numbers up to 1 does not feel what underflows in it."""


def quantum_exponent(x: np.ndarray) -> int | None:
    """Return the largest e such that every finite element of ``x`` is a multiple of 2**e; None for zeros alone."""
    with np.errstate(invalid="ignore"):
        least = min(map(_last_bit, np.array_split(np.ravel(x), 1 + x.size // _BLOCK)))
    return None if least == np.inf else math.frexp(least)[1] - 1


def _last_bit(numbers: np.ndarray) -> float:
    """Return the least that the last bit of a finite number other than 0 stands for; infinity if there is none."""
    bits = numbers.view(np.int64)
    # A number less itself without its last bit is what that bit stands for; a power of two has none in its fraction.
    shorter = (bits & (bits - 1)).view(np.float64)
    last = np.abs(np.where(bits & _FRACTION, numbers - shorter, numbers))
    return float(np.where(last > 0, last, np.inf).min(initial=np.inf))


@dataclass(frozen=True)
class Product:
    """A matrix product: the true one lies within ``radius`` of ``value + tail``.

    ``tail`` is plain 0.0 where it is nothing everywhere. ``magnitude`` is that of the terms: at least |a| @ |b|, and at
    most a factor of 1 + 2**-10 above it. ``radii`` are a column (..., m, 1) and a row (..., 1, n) that make the radius.
    """

    value: np.ndarray
    tail: np.ndarray | float
    magnitude: np.ndarray
    radii: tuple[np.ndarray, np.ndarray]

    @property
    def radius(self) -> np.ndarray:
        return self.radii[0] * self.radii[1]


def matmul(a: np.ndarray, b: np.ndarray, *, doubled: bool = True, scales: tuple[Scale, Scale] | None = None) -> Product:
    """Return the product of finite float64 ``a`` (..., m, k) and ``b`` (..., k, n); leading axes broadcast.

    The radius is at most (k + 4) k**1.5 * 2**-75 of the largest term that the row and the column might make, or
    (k + 4) k**2 * 2**-101 of it if ``doubled``, for which six float64 products are made instead of three. It is 0 where
    all elements of a row of ``a`` and of a column of ``b`` are multiples of one power of two that is not too small
    beside the largest of them (for k = 1024: 2**-32, or 2**-42 if ``doubled``), as those of narrow dtypes mostly are.
    ``scales`` are those of the rows of ``a`` and of the columns of ``b``, where they are known.
    """
    batch = a.shape[:-2] if a.ndim == b.ndim == 2 else np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, a.shape[-2], b.shape[-1])
    if 0 in (*a.shape, *b.shape):
        nothing = np.zeros(shape)
        return Product(nothing, 0.0, nothing, (nothing, nothing))
    (rows, far), (columns, also_far) = scales or (scale(a, -1), scale(b, -2))
    if far or also_far:
        return _rescaled(a, b, rows, columns, doubled)
    cut = _Cut.of(a.shape[-1], doubled)
    left, width = cut.operand(a, rows), max(_TILE // a.shape[-1], 64)
    value, tail, magnitude = np.empty(shape), np.zeros(shape), np.empty(shape)
    radii, has_tail = np.empty_like(columns), False
    for start in range(0, shape[-1], width):
        tile = ..., slice(start, start + width)
        results = value[tile], tail[tile], magnitude[tile]
        radius, tailed = _multiply(left, cut.operand(b[tile], columns[tile]), cut, *results)
        radii[tile] = columns[tile] * radius
        has_tail |= tailed
    return Product(value, tail if has_tail else 0.0, magnitude, (rows, radii))


def scale(x: np.ndarray, axis: int) -> Scale:
    """Return the least powers of two above every magnitude along ``axis`` (kept), and whether any is far from 1.

    0 where all are zero.
    """
    largest, smallest = (side(x, axis, keepdims=True, initial=0.0) for side in (np.max, np.min))
    mantissa, exponent = np.frexp(np.maximum(largest, -smallest))
    return np.ldexp(np.ceil(mantissa), np.minimum(exponent, 1023)), bool(np.any(np.abs(exponent) > _FAR))


def _rescaled(a: np.ndarray, b: np.ndarray, rows: np.ndarray, columns: np.ndarray, doubled: bool) -> Product:
    """Return the product of operands that are far from 1, made near 1; the radius is infinite where it overflows."""
    of_rows, of_columns = (np.frexp(scale)[1] - 1 for scale in (rows, columns))
    exponent, there, lost = of_rows + of_columns, (rows > 0) & (columns > 0), 2.0**-1060
    with np.errstate(all="ignore"):
        near = matmul(np.ldexp(a, -of_rows), np.ldexp(b, -of_columns), doubled=doubled)
        value = np.ldexp(near.value, exponent)
        finite = np.isfinite(value)
        tail = np.where(finite, np.ldexp(near.tail, exponent), 0.0)
        # What is that far below the largest elements may have been lost on the way there, or is on the way back.
        radius, magnitude = (
            np.where(there, np.ldexp(bound + a.shape[-1] * lost, exponent) + lost, 0.0)
            for bound in (near.radius, near.magnitude)
        )
    return Product(value, tail, magnitude, (np.where(finite, radius, np.inf), np.ones(columns.shape)))


@dataclass(frozen=True)
class _Operand:
    """One side of a product. ``rests[i]`` is what the slices before the i-th leave of it, so that ``rests[0]`` is all.

    ``size`` is its magnitude over ``top``, a power of two above all of it, in float32.
    """

    scale: np.ndarray
    slices: list[Factor]
    rests: list[Factor]
    narrow: bool
    size: np.ndarray
    top: float

    @property
    def whole(self) -> np.ndarray:
        return self.rests[0]  # type: ignore[return-value]


@dataclass(frozen=True)
class _Cut:
    """How operands are taken apart into ``leading`` slices of ``bits`` bits and a rest, for sums of ``terms`` products.

    Beside its scale, which is above all elements, the first slice is a multiple of 2**-bits and at most 1; it leaves at
    most half of that unit. The second is a multiple of 4**-bits, and leaves at most half of that. So k products of two
    first slices sum to a multiple of 4**-bits, and to k at most; k products of a first and a second slice to a multiple
    of 8**-bits, and to k/2 * 2**-bits at most, and so do those of a second and a first. With k * 4**bits <= 2**53, each
    of these sums, both together and every partial sum is a float64, so that none is rounded.
    """

    terms: int
    bits: int
    leading: int

    @classmethod
    def of(cls, k: int, doubled: bool) -> _Cut:
        return cls(k, (53 - (k - 1).bit_length()) // 2, 2 if doubled else 1)

    def radius(self, left: _Operand, right: _Operand, levels: list[Factor]) -> float:
        """Return the radius of ``levels`` added up, beside the scales.

        The terms of the last level sum to 5/4 k 2**-(bits * leading) at most, and are rounded k + 2 times, in products
        and their sums (Higham, 3.5). Where the levels are added up, what is lost is at most 2**-52 k, and is rounded
        once. The factor of 2 is beyond what is of higher order.

        Narrow operands round nowhere. In one slice and a rest, see ``_is_narrow``. In two slices, the last level is a
        product of second slices, exact as those of the first are, and what is lost is a multiple of 16**-bits and so
        has 53 bits at most.
        """
        if levels[-1] is None or (left.narrow and right.narrow):
            return 0.0
        return 2 * (self.terms + 4) * self.terms * UNIT * 2.0 ** (-self.bits * self.leading)

    def operand(self, x: np.ndarray, scale: np.ndarray) -> _Operand:
        """Return ``x``, whose elements are below ``scale``, taken apart."""
        slices: list[Factor] = []
        rests: list[Factor] = [x]
        for index in range(1, self.leading + 1):
            part, rest = _rounded(rests[-1], scale * 2.0 ** (-self.bits * index))
            slices.append(part)
            rests.append(rest)
        top = float(scale.max()) or 1.0
        size = np.multiply(x, 1 / top, out=np.empty(x.shape, np.float32), casting="same_kind")
        return _Operand(scale, slices, rests, self._is_narrow(rests[-1], scale), np.abs(size, out=size), top)

    def _is_narrow(self, rest: Factor, scale: np.ndarray) -> bool:
        """Return whether no product with such another operand rounds, ``rest`` being what the slices leave of this.

        With one slice, the terms of the last level sum to k * 2**-bits at most. Where both operands are multiples of
        ``unit``, these terms are multiples of its square, and the sum has 53 bits at most.
        """
        if rest is None or self.leading > 1:
            return rest is None
        unit = scale * 2.0 ** -((53 + self.bits - (self.terms - 1).bit_length()) // 2)
        few = ..., slice(64), slice(64)  # which mostly show that it is not
        return _rounded(rest[few], unit[few])[1] is None and _rounded(rest, unit)[1] is None


def _rounded(x: Factor, unit: np.ndarray) -> tuple[Factor, Factor]:
    """Return ``x`` rounded to the nearest multiples of ``unit``, a power of two, and what that leaves."""
    if x is None:
        return None, None
    # Adding a number whose last place is the unit rounds to that; subtracting it again is exact.
    anchor = 1.5 * 2.0**52 * unit
    part = x + anchor
    part -= anchor
    rest = x - part
    return part, rest if rest.any() else None


def _blocks(shape: tuple[int, ...], size: int = _BLOCK) -> Iterator[Rows]:
    """Yield the indices of a few rows of an array after the other."""
    height = max(size * shape[-2] // math.prod(shape), 1)
    for start in range(0, shape[-2], height):
        yield (..., slice(start, start + height), slice(None))


def _multiply(
    left: _Operand, right: _Operand, cut: _Cut, value: np.ndarray, tail: np.ndarray, magnitude: np.ndarray
) -> tuple[float, bool]:
    """Write the product into value, tail and magnitude; return the radius beside the scales, and whether it has a tail.

    All that it takes is free again when it returns.
    """
    levels = _levels(left, right)
    magnitude[...] = _magnitude(left, right, cut.terms)
    return cut.radius(left, right, levels), _add_up(levels, value, tail)


def _levels(left: _Operand, right: _Operand) -> list[Factor]:
    """Return what sums to the product: the products of slices, by how far down these are, and those that are left."""
    leading = len(left.slices)
    levels = [[(left.slices[i], right.slices[j - i]) for i in range(j + 1)] for j in range(leading)]
    last = [(left.slices[i], right.rests[leading - i]) for i in range(leading)]
    return [_summed(pairs) for pairs in (*levels, [*last, (left.rests[leading], right.rests[0])])]


def _summed(pairs: list[tuple[Factor, Factor]]) -> Factor:
    """Return the sum of the products of ``pairs``."""
    total: Factor = None
    for one, other in pairs:
        if one is not None and other is not None:
            product = np.matmul(one, other)
            total = product if total is None else np.add(total, product, out=total)
    return total


def _add_up(levels: list[Factor], value: np.ndarray, tail: np.ndarray) -> bool:
    """Write the sum of ``levels`` into value and tail, and return whether it has one."""
    first, *others = [level for level in levels if level is not None]
    if not others:
        value[...] = first
        return False
    for rows in _blocks(value.shape):
        high, low = two_sum(first[rows], others[0][rows])
        for other in others[1:]:
            high, lost = two_sum(high, other[rows])
            high, low = two_sum(high, low + lost)
        value[rows], tail[rows] = high, low
    return True


def _magnitude(left: _Operand, right: _Operand, k: int) -> np.ndarray:
    """Return the product of magnitudes, rounded up: made in float32, twice as fast, unless it is too small for that."""
    if k <= 2**12:
        product = np.matmul(left.size, right.size)
        if product.min() >= _CLEAR:
            # Two operands, k products and sums are rounded by 2**-24 each.
            return np.multiply(product, left.top * right.top * (1 + (k + 8) * 2.0**-24), dtype=np.float64)
    one, other = np.abs(left.whole), np.abs(right.whole)
    least = np.min(one, where=one > 0, initial=1.0) * np.min(other, where=other > 0, initial=1.0)
    product = np.matmul(one, other) * (1 + (k + 2) * 2 * UNIT)
    return product if least >= 2.0**-1000 else product + k * 2.0**-1074 * ((left.scale > 0) & (right.scale > 0))


def total(value: np.ndarray, tail: np.ndarray | float, axis: int) -> Sum:
    """Return the sum of value + tail along ``axis`` (kept, with length 1), the same on every machine.

    The radius is about 2 log2(n)**2 * 2**-106 of the sum of magnitudes, and 0 where float64 adds up without loss.
    Infinities and NaN among the values make of the sum what they do in any order of additions, without a tail. Where
    finite terms may overflow on the way, the radius is infinite.
    """
    return _along(value, tail, axis, prefixes=False)


def cumulative(value: np.ndarray, tail: np.ndarray | float, axis: int, *, reverse: bool = False) -> Sum:
    """Return the sums of value + tail up to each element along ``axis``, or from each on if ``reverse``.

    Otherwise as :func:`total`.
    """
    if not reverse:
        return _along(value, tail, axis, prefixes=True)
    flipped = tail if type(tail) is float else np.flip(np.broadcast_to(tail, value.shape), axis)
    result, low, radius = _along(np.flip(value, axis), flipped, axis, prefixes=True)
    return np.flip(result, axis), np.flip(low, axis), np.flip(radius, axis)


class _Running(NamedTuple):
    """Sums under way, along the last axis: what two_sum makes of terms, what it lost, and whether it lost anything.

    ``rest`` begins with the tails; what is lost is added to it in float64.
    """

    sums: np.ndarray
    rest: np.ndarray
    lossy: np.ndarray

    def at(self, start: int, stop: int) -> _Running:
        return _Running(*(part[..., start:stop] for part in self))

    def plus(self, other: _Running) -> _Running:
        sums, lost = two_sum(self.sums, other.sums)
        return _Running(sums, (self.rest + other.rest) + lost, self.lossy | other.lossy | (lost != 0))

    def copied(self) -> _Running:
        return _Running(*map(np.array, self))

    def put(self, start: int, other: _Running) -> None:
        for part, new in zip(self, other, strict=True):
            part[..., start : start + new.shape[-1]] = new


def _halved(terms: _Running, n: int) -> _Running:
    """Return the sum of ``n`` terms: one half is added to the other, until one element is left."""
    half = 2 ** (n.bit_length() - 1)
    if half < n:
        beyond, terms = terms.at(0, n - half).plus(terms.at(half, n)), terms.at(0, half).copied()
        terms.put(0, beyond)
    while half > 1:
        half //= 2
        terms = terms.at(0, half).plus(terms.at(half, 2 * half))
    return terms


def _scanned(terms: _Running, n: int) -> _Running:
    """Return the sums up to each of ``n`` terms: over 2 terms, then 4, then 8 (Hillis and Steele, CACM 29, 1986)."""
    terms, reach = terms.copied(), 1
    while reach < n:
        terms.put(reach, terms.at(reach, n).plus(terms.at(0, n - reach)))
        reach *= 2
    return terms


def _along(value: np.ndarray, tail: np.ndarray | float, axis: int, *, prefixes: bool) -> Sum:
    """Return the sums along ``axis``, of all terms or up to each, a few rows at a time."""
    terms = np.swapaxes(value, axis, -1)
    parts = None if type(tail) is float else np.swapaxes(np.broadcast_to(tail, value.shape), axis, -1)
    sums = np.zeros((3, *terms.shape[:-1], terms.shape[-1] if prefixes else 1))
    if terms.size:
        with np.errstate(all="ignore"):
            for rows in _blocks(terms.shape, _SUMMED) if terms.ndim > 1 else ((...,),):
                done = _certified(terms[rows], None if parts is None else parts[rows], prefixes)
                for whole, part in zip(sums, done, strict=True):
                    whole[rows] = part
    result, low, radius = np.swapaxes(sums, axis if axis < 0 else axis + 1, -1)
    return result, low, radius


def _certified(terms: np.ndarray, parts: np.ndarray | None, prefixes: bool) -> Sum:
    """Return the sums of ``terms`` and ``parts`` along the last axis.

    With u = 2**-53 and d additions on the way of a term, two_sum loses d * u of the magnitudes of the terms at most.
    What it loses and the parts are added up with two roundings for each of its additions, so with an error of 2 * d * u
    of their magnitudes (Higham, 4.2). One in 100 more is beyond what is of higher order and what rounds in the radius.
    """

    def plainly(x: np.ndarray) -> np.ndarray:
        return np.cumsum(x, -1) if prefixes else np.sum(x, -1, keepdims=True)

    n = terms.shape[-1]
    depth, add_up = (n - 1).bit_length(), _scanned if prefixes else _halved
    rest = np.zeros_like(terms) if parts is None else parts
    sums, rest, lossy = add_up(_Running(terms, rest, np.zeros_like(terms, bool)), n)
    result, low = two_sum(sums, rest)
    size, beside = plainly(np.abs(terms)), 0.0 if parts is None else plainly(np.abs(parts))
    radius = 2.02 * depth * UNIT * (beside + depth * UNIT * size) * (lossy | np.greater(beside, 0))
    ordinary = np.isfinite(size * (1 + (n - 1) * 2 * UNIT) + beside)
    if ordinary.all():
        return result, low, radius
    special = plainly(np.where(np.isfinite(terms), 0.0, terms))
    result = np.where(ordinary, result, np.where(special == 0, np.nan_to_num(result), special))
    return result, np.where(ordinary, low, 0.0), np.where(ordinary, radius, np.where(special == 0, np.inf, 0.0))


def windows(
    x: np.ndarray, size: tuple[int, ...], *, stride: int = 1, padding: int = 0, dilation: int = 1
) -> np.ndarray:
    """Return what a convolution multiplies: (..., channels, *image) to (..., positions, channels * prod(size)).

    With the kernels as (channels * prod(size), outputs), the convolution is a matrix product of the two, and has all
    the guarantees of one. Data movement alone: ``size`` is the kernel's, for as many axes as the image has; ``padding``
    zeros are put at each end of them, and a kernel's taps lie ``dilation`` apart. Raises ValueError where no kernel
    fits into the padded image.
    """
    rank = len(size)
    padded = np.pad(x, [(0, 0)] * (x.ndim - rank) + [(padding, padding)] * rank)
    reach = tuple(dilation * (taps - 1) + 1 for taps in size)
    if any(one > whole for one, whole in zip(reach, padded.shape[-rank:], strict=True)):
        raise ValueError(f"a kernel that reaches over {reach} does not fit into an image of {padded.shape[-rank:]}")
    view = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(-rank, 0)))
    steps: tuple[Any, ...] = (..., *[slice(None, None, stride)] * rank, *[slice(None, None, dilation)] * rank)
    view = view[steps]
    channels_last = np.moveaxis(view, -2 * rank - 1, -rank - 1)
    shape = channels_last.shape
    outer, positions, taps = shape[: -2 * rank - 1], shape[-2 * rank - 1 : -rank - 1], shape[-rank - 1 :]
    return channels_last.reshape(*outer, math.prod(positions), math.prod(taps))
