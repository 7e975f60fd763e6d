"""relu in OpenCL: a work-item for an element, or for four neighbours."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch, sizes, strides

_SOURCE = r"""
// Not a maximum: fmax drops a NaN, while the comparison with one is false and keeps it.
__kernel void naive(
    __global const T *x, long x_at, __global T *out, long out_at, long count, long4 size, long4 x_stride)
{
    const long i = get_global_id(0);
    if (i >= count)
        return;
    const WIDE value = LOAD(x, x_at + place(i, size, x_stride));
    STORE(out, out_at + i, value <= 0 ? (WIDE)0 : value);
}

__kernel void vectorized(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    x += x_at, out += out_at;
    const long first = 4 * (long)get_global_id(0);
    if (first + 4 <= count) {
        const WIDE4 value = LOAD4(x, first);
        STORE4(out, first, value <= (WIDE4)0 ? (WIDE4)0 : value);
    } else {
        for (long i = first; i < count; i++) {
            const WIDE value = LOAD(x, i);
            STORE(out, i, value <= 0 ? (WIDE)0 : value);
        }
    }
}
"""


@implementation("relu", paradigm="opencl")
def naive(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype)
    if count := out.numel():
        geometry = (count, sizes(x.shape), strides(x.stride()))
        launch(_SOURCE, "naive", [count], [x, out, *geometry], dtype=x.dtype)
    return out


@implementation("relu", paradigm="opencl", optimizes="naive", technique="vector loads")
def vectorized(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; four at a time where ``x`` is contiguous."""
    if not x.is_contiguous():
        return naive(x)
    out = torch.empty(x.shape, dtype=x.dtype)
    if count := out.numel():
        launch(_SOURCE, "vectorized", [-(-count // 4)], [x, out, count], dtype=x.dtype)
    return out
