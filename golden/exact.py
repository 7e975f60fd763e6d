"""Sums and products of float64 arrays, exact or with a proven radius, and the same bits on every machine.

A matrix product splits its operands into slices of few bits, so that the float64 products of leading slices are exact
whatever the BLAS, its order and its use of fused multiply-add (Ozaki, Ogita, Oishi, Rump, "Error-free transformations
of matrix multiplication by using fast routines of matrix multiplication", Numerical Algorithms 59, 2012). What the
leading slices leave is small, so that its products may be rounded: their error is bounded as for any order of additions
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.5).
"""

from __future__ import annotations

import numpy as np

from golden.doubled import UNIT, two_sum

TILE = 256
"""Rows and columns of a product that are made at a time, so that slices and parts are small beside the result."""

_WHOLE = 2**16  # elements of a product that is made in one piece


def quantum_exponent(x: np.ndarray) -> int | None:
    """Return the largest e such that every element of finite ``x`` is a multiple of 2**e; None when all are zero."""
    mantissa, exponent = np.frexp(x[x != 0])
    if not mantissa.size:
        return None
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((exponent - 53 + trailing - 1).min())


def matmul(a: np.ndarray, b: np.ndarray, *, doubled: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the product of finite ``a`` (..., m, k) and ``b`` (..., k, n) as value, tail and radius.

    The true product lies within ``radius`` of ``value + tail``. It is exact, with a radius of 0, where the elements of
    each row of ``a`` and each column of ``b`` fit into one slice of about 21 bits (two slices each if ``doubled``).
    Else the radius is about k*k * 2**-74 of the largest term, or 2**-95 of it if ``doubled``, for which twice as many
    products are made: six of float64 instead of three.
    """
    shape = (*a.shape[:-1], b.shape[-1])
    if 0 in (*a.shape, *b.shape):
        zeros = np.zeros((3, *shape))
        return zeros[0], zeros[1], zeros[2]
    if a.shape[-2] * b.shape[-1] <= _WHOLE:
        return _product(a, b, 2 if doubled else 1)
    value, tail, radius = np.empty((3, *np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *shape[-2:]))
    for column in range(0, shape[-1], 4 * TILE):
        columns = slice(column, column + 4 * TILE)
        for row in range(0, shape[-2], TILE):
            rows = slice(row, row + TILE)
            tile = _product(a[..., rows, :], b[..., columns], 2 if doubled else 1)
            value[..., rows, columns], tail[..., rows, columns], radius[..., rows, columns] = tile
    return value, tail, radius


def magnitude(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return an upper bound of ``|a| @ |b|``, at most a factor of 1 + 2**-9 above it.

    Taken in float32, which is twice as fast, where nothing underflows in it.
    """
    k = a.shape[-1]
    sizes = np.abs(a), np.abs(b)
    if 0 in (*a.shape, *b.shape):
        return np.matmul(*sizes)
    scales = tuple(_power(size, axis) for size, axis in zip(sizes, (-1, -2), strict=True))
    if k <= 4096 and all(_is_narrow(size, scale) for size, scale in zip(sizes, scales, strict=True)):
        left, right = ((size * (1 / scale)).astype(np.float32) for size, scale in zip(sizes, scales, strict=True))
        # Each operand, product and sum may have been rounded down, by 2**-24 of itself.
        return np.matmul(left, right).astype(np.float64) * (1 + (k + 4) * 2.0**-23) * scales[0] * scales[1]
    return np.matmul(*sizes) * (1 + (k + 2) * 2 * UNIT)


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


def _product(a: np.ndarray, b: np.ndarray, leading: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the product as value, tail and radius; ``leading`` slices of each operand are multiplied exactly."""
    k = a.shape[-1]
    bits = (53 - int(k).bit_length()) // 2
    row, column = _power(a, -1), _power(b, -2)
    a, b = a * (1 / row), b * (1 / column)
    left, right = _sliced(a, bits, leading), _sliced(b, bits, leading)
    value = np.matmul(left[0], right[0])
    tail = np.zeros_like(value)
    small: np.ndarray | float = 0.0
    unit = 0.0
    for i in range(len(left)):
        for j in range(len(right)):
            if (i, j) == (0, 0) or left[i] is None or right[j] is None:
                continue
            if i + j < leading and i < leading and j < leading:
                value, lost = two_sum(value, np.matmul(left[i], right[j]))
                tail += lost
                unit = UNIT
    for i, j in _remaining(leading):
        one, other = _gathered(left, i), _gathered(right, j)
        if one is not None and other is not None:
            small = small + np.matmul(one, other)
            unit = max(unit, UNIT)
    if not isinstance(small, float):
        tail = tail + small
    value, tail = two_sum(value, tail)
    # Scaled so, operands are at most 1 and what a slice leaves is half of its unit: each product that is rounded has
    # terms of k * 2**-(bits * leading) in all, and so has everything that was added to the tail, within a factor of 4.
    inexact = not isinstance(small, float)
    radius = (4 * (k + 8) * k * UNIT * 2.0 ** (-bits * leading)) if inexact else 16 * k * unit * UNIT
    if leading > 1 and min(_least(a), _least(b)) < 2.0**-480:  # only float64 has numbers that far apart
        radius += k * 2.0**-1000
    results = (part * row * column for part in (value, tail, np.broadcast_to(radius, value.shape)))
    value, tail, spread = results
    if leading > 1 and (row * column).min() < 2.0**-800:
        spread = spread + 2.0**-1060
    return value, tail, spread


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


def _power(x: np.ndarray, axis: int) -> np.ndarray:
    """Return the power of two above the largest magnitude along ``axis`` (kept), from 2**-1000 to 2**1000."""
    _, exponent = np.frexp(np.abs(x).max(axis=axis, keepdims=True))
    return np.ldexp(1.0, np.clip(exponent, -1000, 1000))


def _least(x: np.ndarray) -> float:
    """Return the least magnitude that is not zero, 1 for none."""
    size = np.abs(x)
    return float(np.where(size == 0, 1.0, size).min())


def _is_narrow(size: np.ndarray, scale: np.ndarray) -> bool:
    """Whether no magnitude, scaled, is so small that a product of two underflows in float32."""
    return bool(np.where(size == 0, 1.0, size / scale).min() >= 2.0**-60)
