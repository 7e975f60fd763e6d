"""softmax in OpenCL: a work-item for a row, or a work-group whose items share one.

A row is everything along ``dim``, wherever that axis lies in memory. fmax drops a NaN, but the sum of exponentials
keeps it; so a row that holds a NaN or +inf, or nothing but -inf, becomes NaN.
"""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import GROUP, group_size, launch, sizes, strides

_SOURCE = r"""
#define ROW_ARGUMENTS                                                                                              \
    __global const T *x, long x_at, __global T *out, long out_at, long rows, long length, long4 size, long4 x_stride, \
    long x_step, long4 out_stride, long out_step

__kernel void row_per_item(ROW_ARGUMENTS)
{
    const long row = get_global_id(0);
    if (row >= rows)
        return;
    x += x_at + place(row, size, x_stride);
    out += out_at + place(row, size, out_stride);
    WIDE peak = -INFINITY;
    for (long i = 0; i < length; i++)
        peak = fmax(peak, LOAD(x, i * x_step));
    WIDE total = 0;
    for (long i = 0; i < length; i++)
        total += exp(LOAD(x, i * x_step) - peak);
    for (long i = 0; i < length; i++)
        STORE(out, i * out_step, exp(LOAD(x, i * x_step) - peak) / total);
}

__kernel void row_per_group(ROW_ARGUMENTS)
{
    __local WIDE shared[GROUP];
    const long row = get_group_id(0);
    const int item = get_local_id(0);
    x += x_at + place(row, size, x_stride);
    out += out_at + place(row, size, out_stride);

    WIDE peak = -INFINITY;
    for (long i = item; i < length; i += GROUP)
        peak = fmax(peak, LOAD(x, i * x_step));
    shared[item] = peak;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart; apart /= 2) {
        if (item < apart)
            shared[item] = fmax(shared[item], shared[item + apart]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    peak = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);

    WIDE total = 0;
    for (long i = item; i < length; i += GROUP)
        total += exp(LOAD(x, i * x_step) - peak);
    shared[item] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart; apart /= 2) {
        if (item < apart)
            shared[item] += shared[item + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    total = shared[0];

    for (long i = item; i < length; i += GROUP)
        STORE(out, i * out_step, exp(LOAD(x, i * x_step) - peak) / total);
}

// As long as nothing but -inf has been seen, exponentials are 0, and not those of -inf minus -inf.
WIDE shift_of(WIDE peak) { return peak == -INFINITY ? (WIDE)0 : peak; }

__kernel void online(ROW_ARGUMENTS)
{
    __local WIDE peaks[GROUP], totals[GROUP];
    const long row = get_group_id(0);
    const int item = get_local_id(0);
    x += x_at + place(row, size, x_stride);
    out += out_at + place(row, size, out_stride);

    WIDE peak = -INFINITY, total = 0;
    for (long i = item; i < length; i += GROUP) {
        const WIDE value = LOAD(x, i * x_step);
        const WIDE higher = fmax(peak, value), shift = shift_of(higher);
        total = total * exp(peak - shift) + exp(value - shift);
        peak = higher;
    }
    peaks[item] = peak;
    totals[item] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart; apart /= 2) {
        if (item < apart) {
            const WIDE other = peaks[item + apart];
            const WIDE higher = fmax(peaks[item], other), shift = shift_of(higher);
            totals[item] = totals[item] * exp(peaks[item] - shift) + totals[item + apart] * exp(other - shift);
            peaks[item] = higher;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    peak = peaks[0];
    total = totals[0];

    for (long i = item; i < length; i += GROUP)
        STORE(out, i * out_step, exp(LOAD(x, i * x_step) - peak) / total);
}
"""


def _launch(kernel: str, x: torch.Tensor, dim: int, *, items: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim`` by ``kernel``, with so many work-items a row."""
    out = torch.empty(x.shape, dtype=x.dtype)
    if not out.numel():
        return out
    source, target = x.movedim(dim, -1), out.movedim(dim, -1)
    *outer, length = source.shape
    *steps, step = source.stride()
    *out_steps, out_step = target.stride()
    rows = out.numel() // length
    geometry = (rows, length, sizes(outer), strides(steps), step, strides(out_steps), out_step)
    group = group_size(GROUP)
    definitions = {"GROUP": group}
    launch(_SOURCE, kernel, [rows * items], [x, out, *geometry], dtype=x.dtype, group=[group], definitions=definitions)
    return out


@implementation("softmax", paradigm="opencl")
def row_per_item(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: each work-item goes along a row three times."""
    return _launch("row_per_item", x, dim, items=1)


@implementation("softmax", paradigm="opencl", optimizes="row_per_item", technique="tree in shared memory")
def row_per_group(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a work-group shares a row, its maximum and its sum."""
    return _launch("row_per_group", x, dim, items=group_size(GROUP))


@implementation("softmax", paradigm="opencl", optimizes="row_per_group", technique="online softmax")
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: one pass for maximum and sum, rescaled where the maximum grows."""
    return _launch("online", x, dim, items=group_size(GROUP))
