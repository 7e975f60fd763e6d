"""rms_norm in OpenCL: a work-item for a row, or a work-group whose items share one."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import GROUP, group_size, launch, sizes, strides

_SOURCE = r"""
#define ROW_ARGUMENTS                                                                                          \
    __global const T *x, long x_at, __global const T *weight, long weight_at, __global T *out, long out_at, long rows, \
    long length, long4 size, long4 x_stride, long x_step, long weight_step, WIDE eps

__kernel void row_per_item(ROW_ARGUMENTS)
{
    const long row = get_global_id(0);
    if (row >= rows)
        return;
    x += x_at + place(row, size, x_stride);
    WIDE squares = 0;
    for (long i = 0; i < length; i++)
        squares += LOAD(x, i * x_step) * LOAD(x, i * x_step);
    const WIDE scale = rsqrt(squares / length + eps);
    for (long i = 0; i < length; i++)
        STORE(out, out_at + row * length + i, LOAD(x, i * x_step) * scale * LOAD(weight, weight_at + i * weight_step));
}

__kernel void row_per_group(ROW_ARGUMENTS)
{
    __local WIDE shared[GROUP];
    const long row = get_group_id(0);
    const int item = get_local_id(0);
    x += x_at + place(row, size, x_stride);
    WIDE squares = 0;
    for (long i = item; i < length; i += GROUP)
        squares += LOAD(x, i * x_step) * LOAD(x, i * x_step);
    shared[item] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart; apart /= 2) {
        if (item < apart)
            shared[item] += shared[item + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const WIDE scale = rsqrt(shared[0] / length + eps);
    for (long i = item; i < length; i += GROUP)
        STORE(out, out_at + row * length + i, LOAD(x, i * x_step) * scale * LOAD(weight, weight_at + i * weight_step));
}
"""


def _launch(kernel: str, x: torch.Tensor, weight: torch.Tensor, eps: float, *, items: int) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype)
    if not out.numel():
        return out
    *outer, length = x.shape
    *steps, step = x.stride()
    rows = out.numel() // length
    arguments = [x, weight, out, rows, length, sizes(outer), strides(steps), step, weight.stride(0), eps]
    group = group_size(GROUP)
    launch(_SOURCE, kernel, [rows * items], arguments, dtype=x.dtype, group=[group], definitions={"GROUP": group})
    return out


@implementation("rms_norm", paradigm="opencl")
def row_per_item(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the rows of ``x`` normalized and scaled: each work-item goes along a row twice."""
    return _launch("row_per_item", x, weight, eps, items=1)


@implementation("rms_norm", paradigm="opencl", optimizes="row_per_item", technique="tree in shared memory")
def row_per_group(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the rows of ``x`` normalized and scaled: a work-group shares a row and its sum of squares."""
    return _launch("row_per_group", x, weight, eps, items=group_size(GROUP))
