"""transpose in OpenCL: element by element, or by tiles in local memory, read and written along their rows."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import group_size, launch, sizes, strides

_SOURCE = r"""
#define ARGUMENTS                                                                                                   \
    __global const T *x, long x_at, __global T *out, long out_at, long rows, long columns, long4 size, long4 x_stride, \
    long row_step, long column_step

__kernel void naive(ARGUMENTS)
{
    const long column = get_global_id(0), row = get_global_id(1), matrix = get_global_id(2);
    if (row >= rows || column >= columns)
        return;
    x += x_at + place(matrix, size, x_stride);
    STORE(out, out_at + (matrix * columns + column) * rows + row, LOAD(x, row * row_step + column * column_step));
}

__kernel void tiled(ARGUMENTS)
{
    __local WIDE tile[TILE][TILE + PADDING];
    const int i = get_local_id(0), j = get_local_id(1);
    const long across = get_group_id(0) * TILE, down = get_group_id(1) * TILE, matrix = get_global_id(2);
    x += x_at + place(matrix, size, x_stride);
    if (down + j < rows && across + i < columns)
        tile[j][i] = LOAD(x, (down + j) * row_step + (across + i) * column_step);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (down + i < rows && across + j < columns)
        STORE(out, out_at + (matrix * columns + across + j) * rows + down + i, tile[i][j]);
}
"""


def _launch(kernel: str, x: torch.Tensor, *, padding: int = 0) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped; rows of a tile are ``padding`` elements longer than it is wide."""
    *outer, rows, columns = x.shape
    *steps, row_step, column_step = x.stride()
    out = torch.empty((*outer, columns, rows), dtype=x.dtype)
    if not out.numel():
        return out
    tile = 16 if group_size(256) == 256 else 8
    items = [columns, rows, out.numel() // (rows * columns)]
    launch(
        _SOURCE, kernel, items, [x, out, rows, columns, sizes(outer), strides(steps), row_step, column_step],
        dtype=x.dtype, group=[tile, tile, 1], definitions={"TILE": tile, "PADDING": padding},
    )  # fmt: skip
    return out


@implementation("transpose", paradigm="opencl")
def naive(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped; neighbouring work-items read neighbours and write far apart."""
    return _launch("naive", x)


@implementation("transpose", paradigm="opencl", optimizes="naive", technique="tiles in local memory")
def tiled(x: torch.Tensor) -> torch.Tensor:
    """Return the same; a tile is read along its rows, and its columns, in local memory, are written along rows."""
    return _launch("tiled", x)


@implementation("transpose", paradigm="opencl", optimizes="tiled", technique="padded tiles")
def padded(x: torch.Tensor) -> torch.Tensor:
    """Return the same; each row of a tile is one element longer, so that a column lies in all banks of the memory."""
    return _launch("tiled", x, padding=1)
