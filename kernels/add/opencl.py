"""add in OpenCL: a work-item for an element, or for four neighbours."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch, sizes, strides

_SOURCE = r"""
__kernel void naive(
    __global const T *x, long x_at, __global const T *y, long y_at, __global T *out, long out_at,
    long count, long4 size, long4 x_stride, long4 y_stride)
{
    const long i = get_global_id(0);
    if (i >= count)
        return;
    const WIDE left = LOAD(x, x_at + place(i, size, x_stride));
    const WIDE right = LOAD(y, y_at + place(i, size, y_stride));
    STORE(out, out_at + i, PLUS(left, right));
}

__kernel void vectorized(
    __global const T *x, long x_at, __global const T *y, long y_at, __global T *out, long out_at, long count)
{
    x += x_at, y += y_at, out += out_at;
    const long first = 4 * (long)get_global_id(0);
    if (first + 4 <= count)
        STORE4(out, first, PLUS4(LOAD4(x, first), LOAD4(y, first)));
    else
        for (long i = first; i < count; i++)
            STORE(out, i, PLUS(LOAD(x, i), LOAD(y, i)));
}
"""


@implementation("add", paradigm="opencl")
def naive(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype)
    if count := out.numel():
        geometry = (count, sizes(x.shape), strides(x.stride()), strides(y.stride()))
        launch(_SOURCE, "naive", [count], [x, y, out, *geometry], dtype=x.dtype)
    return out


@implementation("add", paradigm="opencl", optimizes="naive", technique="vector loads")
def vectorized(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; four at a time where both operands are as contiguous as the output."""
    if x.shape != y.shape or not (x.is_contiguous() and y.is_contiguous()):
        return naive(x, y)
    out = torch.empty(x.shape, dtype=x.dtype)
    if count := out.numel():
        launch(_SOURCE, "vectorized", [-(-count // 4)], [x, y, out, count], dtype=x.dtype)
    return out
