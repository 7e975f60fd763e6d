"""sum in OpenCL: a work-item for a row, or a work-group whose items share one."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import GROUP, group_size, launch, sizes, strides

_SOURCE = r"""
__kernel void row_per_item(
    __global const T *x, long x_at, __global T *out, long out_at, long rows, long length, long4 size, long4 x_stride,
    long x_step)
{
    const long row = get_global_id(0);
    if (row >= rows)
        return;
    x += x_at + place(row, size, x_stride);
    WIDE total = 0;
    for (long i = 0; i < length; i++)
        total = PLUS(total, LOAD(x, i * x_step));
    STORE(out, out_at + row, total);
}

__kernel void row_per_group(
    __global const T *x, long x_at, __global T *out, long out_at, long rows, long length, long4 size, long4 x_stride,
    long x_step)
{
    __local WIDE shared[GROUP];
    const long row = get_group_id(0);
    const int item = get_local_id(0);
    x += x_at + place(row, size, x_stride);
    WIDE total = 0;
    for (long i = item; i < length; i += GROUP)
        total = PLUS(total, LOAD(x, i * x_step));
    shared[item] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart; apart /= 2) {
        if (item < apart)
            shared[item] = PLUS(shared[item], shared[item + apart]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        STORE(out, out_at + row, shared[0]);
}
"""


def _launch(kernel: str, x: torch.Tensor, dim: int, *, items: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim`` by ``kernel``, with so many work-items a row."""
    source = x.movedim(dim, -1)
    *outer, length = source.shape
    *steps, step = source.stride()
    out = torch.empty(outer, dtype=x.dtype)
    if rows := out.numel():
        geometry = (rows, length, sizes(outer), strides(steps), step)
        group = group_size(GROUP)
        definitions = {"GROUP": group}
        launch(
            _SOURCE, kernel, [rows * items], [x, out, *geometry], dtype=x.dtype, group=[group], definitions=definitions
        )
    return out


@implementation("sum", paradigm="opencl")
def row_per_item(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, each by one work-item from the first element to the last."""
    return _launch("row_per_item", x, dim, items=1)


@implementation("sum", paradigm="opencl", optimizes="row_per_item", technique="tree in shared memory")
def row_per_group(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: a work-group shares a row, and adds up what its items have."""
    return _launch("row_per_group", x, dim, items=group_size(GROUP))
