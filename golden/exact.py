"""Sums and products of float64 arrays, exact or with a proven radius.

The matrix product splits both operands into slices of few bits, so that every float64 product of two slices is exact
whatever the BLAS, its order and its use of fused multiply-add (Ozaki, Ogita, Oishi, Rump, "Error-free transformations
of matrix multiplication by using fast routines of matrix multiplication", Numerical Algorithms 59, 2012).
"""

from __future__ import annotations

import numpy as np

UNIT = 2.0**-53
"""Unit roundoff of float64, in which golden values are kept."""

_MOST_SLICES = 6


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the float64 sum of ``a`` and ``b`` and what its rounding lost, exactly (Knuth, TAOCP 2, 4.2.2)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def quantum_exponent(x: np.ndarray) -> int | None:
    """Return the largest e such that every element of finite ``x`` is a multiple of 2**e; None when all are zero."""
    mantissa, exponent = np.frexp(x[x != 0])
    if not mantissa.size:
        return None
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((exponent - 53 + trailing - 1).min())


def matmul(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the product of finite ``a`` (..., m, k) and ``b`` (..., k, n) as value, tail and radius.

    The true product lies within ``radius`` of ``value + tail``; where the operands need no more than
    ``_MOST_SLICES`` slices, which is all but values spread over more than 2**100, the radius is that of adding up
    a few exact float64 matrices: about 2**-100 of the sum of magnitudes.
    """
    k = a.shape[-1]
    if 0 in (*a.shape, *b.shape):
        zeros = np.zeros((*a.shape[:-1], b.shape[-1]))
        return zeros, zeros.copy(), zeros.copy()
    bits = (53 - int(k).bit_length()) // 2
    rows, row_exponent = _slices(a, -1, bits)
    columns, column_exponent = _slices(b, -2, bits)
    pairs = sorted((i + j, i, j) for i in range(len(rows)) for j in range(len(columns)))
    value, tail = np.zeros((2, *a.shape[:-1], b.shape[-1]))
    for _, i, j in pairs:
        value, lost = two_sum(value, rows[i] @ columns[j])
        tail += lost
    # Scaled so, every operand is below 1: the first exact product is below k, what the slices left out below
    # k * 2**(1 - bits*slices), and each addition to the tail errs by UNIT of a tail below k * UNIT * (pairs).
    left_out = sum(2.0 ** (1 - bits * _MOST_SLICES) for part in (rows, columns) if len(part) == _MOST_SLICES)
    radius = k * (left_out + len(pairs) ** 2 * UNIT**2 + 2.0**-1060)
    scale = row_exponent + column_exponent
    return _scaled(value, scale), _scaled(tail, scale), np.broadcast_to(np.ldexp(radius, scale), value.shape)


def _slices(x: np.ndarray, axis: int, bits: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return ``x`` scaled below 1 along ``axis`` and split into slices of ``bits`` bits, with the scale's exponent."""
    _, exponent = np.frexp(np.abs(x).max(axis=axis, keepdims=True))
    rest = _scaled(x, -exponent)
    slices: list[np.ndarray] = []
    while len(slices) < _MOST_SLICES:
        # Adding a number whose last place is the slice's unit rounds to it, to nearest; subtracting it is exact.
        anchor = 1.5 * 2.0 ** (52 - bits * (len(slices) + 1))
        part = (rest + anchor) - anchor
        slices.append(part)
        rest = rest - part
        if not rest.any():
            break
    return slices, exponent


def _scaled(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return ``x * 2**exponent``, by multiplication where the powers of two are numbers, which is much faster."""
    if np.abs(exponent).max() < 1000:
        return x * np.ldexp(1.0, exponent)
    return np.ldexp(x, exponent)
