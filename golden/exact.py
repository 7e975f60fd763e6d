"""Sums and products of float64 arrays, exact or with a proven radius, and the same bits on every machine.

A matrix product splits its operands into slices of few bits, so that the float64 products of leading slices are exact
whatever the BLAS, its order and its use of fused multiply-add (Ozaki, Ogita, Oishi, Rump, "Error-free transformations
of matrix multiplication by using fast routines of matrix multiplication", Numerical Algorithms 59, 2012). What the
leading slices leave is small, so that its products may be rounded: their error is bounded as for any order of additions
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from golden.doubled import UNIT, two_sum

TILE = 256
"""Columns of a large product that are made at a time, so that slices and parts are small beside the result."""

_SMALL = 2.0**-60
"""A magnitude beside 1 from which on products of two do not underflow in float32."""

_WHOLE = 2**16  # elements of a product that is made in one piece


def quantum_exponent(x: np.ndarray) -> int | None:
    """Return the largest e such that every element of finite ``x`` is a multiple of 2**e; None when all are zero."""
    mantissa, exponent = np.frexp(x[x != 0])
    if not mantissa.size:
        return None
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((exponent - 53 + trailing - 1).min())


@dataclass(frozen=True)
class Product:
    """A matrix product: the true one lies within ``radius`` of ``value + tail``.

    ``magnitude`` is that of the terms: at least |a| @ |b|, and at most a factor of 1 + 2**-9 above it.
    """

    value: np.ndarray
    tail: np.ndarray
    radius: np.ndarray
    magnitude: np.ndarray


def matmul(a: np.ndarray, b: np.ndarray, *, doubled: bool = True) -> Product:
    """Return the product of finite ``a`` (..., m, k) and ``b`` (..., k, n).

    It is exact, with a radius of 0, where the elements of each row of ``a`` and each column of ``b`` fit into one slice
    of about 21 bits (two slices each if ``doubled``). Else the radius is about k*k * 2**-74 of the largest term, or
    2**-95 of it if ``doubled``, for which twice as many products are made: six of float64 instead of three.
    """
    k, leading = a.shape[-1], 2 if doubled else 1
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    if 0 in (*a.shape, *b.shape):
        return Product(*np.zeros((4, *shape)))
    bits = (53 - int(k).bit_length()) // 2
    left = _Operand.of(a, -1, bits, leading)
    if shape[-2] * shape[-1] <= _WHOLE:
        return _product(left, _Operand.of(b, -2, bits, leading), k, bits)
    results = np.empty((4, *shape))
    for column in range(0, shape[-1], TILE):
        tile = slice(column, column + TILE)
        part = _product(left, _Operand.of(b[..., tile], -2, bits, leading), k, bits)
        for result, of_part in zip(results, (part.value, part.tail, part.radius, part.magnitude), strict=True):
            result[..., tile] = of_part
    return Product(*results)


def total(value: np.ndarray, tail: np.ndarray | float, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sum of value + tail along ``axis`` (kept, with length 1) as value, tail and radius.

    Halves are added to halves, so that an element takes part in log2(n) additions, each without loss (two_sum). What
    they lose is summed in float64: its error is at most 2 log2(n) + 2 roundings of the sum of its magnitudes, which is
    at most log2(n) roundings of the sum of all. An infinite or NaN sum has no tail; the radius is infinite where finite
    elements overflow.
    """
    sums, parts = np.moveaxis(value, axis, -1), np.moveaxis(np.broadcast_to(tail, value.shape), axis, -1)
    n = sums.shape[-1]
    if not n:
        empty = np.zeros((3, *sums.shape[:-1], 1))
        return tuple(np.moveaxis(part, -1, axis) for part in empty)  # type: ignore[return-value]
    with np.errstate(all="ignore"):
        result, low, radius = _halved(sums, parts)
    return np.moveaxis(result, -1, axis), np.moveaxis(low, -1, axis), np.moveaxis(radius, -1, axis)


def _halved(sums: np.ndarray, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums along the last axis as value, tail and radius."""
    n, elements_finite = sums.shape[-1], np.isfinite(sums).all(-1, keepdims=True)
    size, rest_size = np.abs(sums).sum(-1, keepdims=True), np.abs(parts).sum(-1, keepdims=True)
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        odd = sums[..., 2 * half :], parts[..., 2 * half :]
        added, lost = two_sum(sums[..., :half], sums[..., half : 2 * half])
        rest = parts[..., :half] + parts[..., half : 2 * half] + lost
        sums, parts = (np.concatenate(both, -1) for both in ((added, odd[0]), (rest, odd[1])))
    depth = int(n).bit_length() + 1
    finite = np.isfinite(sums)
    result, low = two_sum(sums, np.where(finite, parts, 0.0))
    radius = 4 * depth * UNIT * (rest_size + 2 * depth * UNIT * size)
    radius = np.where(elements_finite & ~(finite & np.isfinite(radius)), np.inf, np.where(finite, radius, 0.0))
    return result, np.where(finite, low, 0.0), radius


def windows(x: np.ndarray, size: tuple[int, int], *, stride: int = 1, padding: int = 0) -> np.ndarray:
    """Return what a two-dimensional convolution multiplies: (..., c, h, w) to (..., positions, c * size).

    Data movement alone. With the weights as (c * size, channels) the convolution is a matrix product, and has all the
    guarantees of one. Zeros are put around the image for ``padding``.
    """
    edges = [(0, 0)] * (x.ndim - 2) + [(padding, padding)] * 2
    padded = np.pad(x, edges)
    view = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(-2, -1))
    view = view[..., ::stride, ::stride, :, :]  # (..., c, rows, columns, *size)
    moved = np.moveaxis(view, -5, -3)
    *outer, rows, columns, channels, _, _ = moved.shape
    return moved.reshape(*outer, rows * columns, channels * size[0] * size[1])


@dataclass(frozen=True)
class _Operand:
    """One side of a product: scaled to at most 1 along the summed axis, in slices and a rest.

    None stands for a slice that is zero, which the first one never is.
    """

    scale: np.ndarray
    slices: list[np.ndarray | None]
    size: np.ndarray
    least: float

    @classmethod
    def of(cls, x: np.ndarray, axis: int, bits: int, leading: int) -> _Operand:
        size = np.abs(x)
        _, exponent = np.frexp(size.max(axis=axis, keepdims=True))
        scale = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
        size *= 1 / scale
        least = float(size.min())
        if least < _SMALL:  # and not because of zeros, if possible
            least = float(np.where(size == 0, 1.0, size).min())
        return cls(scale, _sliced(x * (1 / scale), bits, leading), size, least)


def _product(left: _Operand, right: _Operand, k: int, bits: int) -> Product:
    """Return the product; all slices but the rest are multiplied exactly."""
    leading = len(left.slices) - 1
    value = np.matmul(left.slices[0], right.slices[0])  # type: ignore[arg-type]
    tail: np.ndarray | float = 0.0
    for i in range(leading):
        for j in range(leading - i):
            one, other = left.slices[i], right.slices[j]
            if i + j and one is not None and other is not None:
                value, lost = two_sum(value, np.matmul(one, other))
                tail = tail + lost
    exact = type(tail) is float
    small: np.ndarray | float = 0.0
    for first, second in _remaining(leading):
        one, other = _gathered(left.slices, first), _gathered(right.slices, second)
        if one is not None and other is not None:
            small = small + np.matmul(one, other)
    # Scaled so, operands are at most 1 and what a slice leaves is half of its unit: each product that is rounded has
    # terms of k * 2**-(bits * leading) in all, and so has everything that was added to the tail, within a factor of 4.
    radius = 0.0 if exact else 16 * k * UNIT**2
    if type(small) is not float:
        radius, tail = 4 * (k + 8) * k * UNIT * 2.0 ** (-bits * leading), tail + small
    if leading > 1 and min(left.least, right.least) < 2.0**-480:  # only float64 has numbers that far apart
        radius += k * 2.0**-1000
    # The larger power first, so that nothing underflows on the way that does not in the end.
    up, down = np.maximum(left.scale, right.scale), np.minimum(left.scale, right.scale)
    spread = np.broadcast_to(radius * up * down, value.shape)
    if leading > 1 and (up * down).min() < 2.0**-800:
        spread = spread + 2.0**-1060
    low = np.broadcast_to(tail, value.shape)
    if type(tail) is not float:
        value, low = two_sum(value, low)
        low = low * up * down
    return Product(value * up * down, low, spread, _magnitude(left, right, k) * up * down)


def _magnitude(left: _Operand, right: _Operand, k: int) -> np.ndarray:
    """Return the product of the scaled magnitudes, rounded up; in float32, twice as fast, where nothing underflows."""
    if k <= 4096 and min(left.least, right.least) >= _SMALL:
        product = np.matmul(left.size.astype(np.float32), right.size.astype(np.float32))
        # Each operand, product and sum may have been rounded down, by 2**-24 of itself.
        return product * (1 + (k + 4) * 2.0**-23)
    return np.matmul(left.size, right.size) * (1 + (k + 2) * 2 * UNIT)


def _remaining(leading: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return which slices, from and to, of the two operands make the products that are not exact."""
    if leading == 1:
        return [((0, 1), (1, 2)), ((1, 2), (0, 2))]
    return [((0, 1), (2, 3)), ((1, 2), (1, 3)), ((2, 3), (0, 3))]


def _gathered(slices: list[np.ndarray | None], which: tuple[int, int]) -> np.ndarray | None:
    """Return the sum of some slices, exact since they do not overlap; None for nothing."""
    parts = [part for part in slices[which[0] : which[1]] if part is not None]
    if not parts:
        return None
    gathered = parts[-1]
    for part in parts[-2::-1]:
        gathered = part + gathered
    return gathered


def _sliced(x: np.ndarray, bits: int, leading: int) -> list[np.ndarray | None]:
    """Return ``x``, at most 1, as ``leading`` slices of ``bits`` bits and the rest; None for zeros."""
    slices: list[np.ndarray | None] = []
    rest: np.ndarray | None = x
    for index in range(leading):
        if rest is None:
            slices.append(None)
            continue
        # Adding a number whose last place is the slice's unit rounds to it, to nearest; subtracting it is exact.
        anchor = 1.5 * 2.0 ** (52 - bits * (index + 1))
        part = (rest + anchor) - anchor
        rest = rest - part
        slices.append(part)
        rest = rest if rest.any() else None
    return [*slices, rest]
