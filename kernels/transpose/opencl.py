"""transpose in OpenCL: element by element, by fours, or by tiles in local memory, read and written along their rows."""

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

// Four rows by four columns a work-item, one by one at the borders and where a row does not lie side by side.
__kernel void vectorized(ARGUMENTS)
{
    const long column = 4 * get_global_id(0), row = 4 * get_global_id(1), matrix = get_global_id(2);
    x += x_at + place(matrix, size, x_stride);
    out_at += matrix * columns * rows;
    if (column_step == 1 && row + 4 <= rows && column + 4 <= columns) {
        const WIDE4 a = LOAD4(x, row * row_step + column), b = LOAD4(x, (row + 1) * row_step + column);
        const WIDE4 c = LOAD4(x, (row + 2) * row_step + column), d = LOAD4(x, (row + 3) * row_step + column);
        STORE4(out, out_at + column * rows + row, ((WIDE4)(a.x, b.x, c.x, d.x)));
        STORE4(out, out_at + (column + 1) * rows + row, ((WIDE4)(a.y, b.y, c.y, d.y)));
        STORE4(out, out_at + (column + 2) * rows + row, ((WIDE4)(a.z, b.z, c.z, d.z)));
        STORE4(out, out_at + (column + 3) * rows + row, ((WIDE4)(a.w, b.w, c.w, d.w)));
        return;
    }
    for (long i = row; i < row + 4 && i < rows; i++)
        for (long j = column; j < column + 4 && j < columns; j++)
            STORE(out, out_at + j * rows + i, LOAD(x, i * row_step + j * column_step));
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


def _launch(kernel: str, x: torch.Tensor, *, each: int = 1, padding: int = 0) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped by ``kernel``, whose work-items have ``each`` rows and columns.

    Rows of a tile in local memory are ``padding`` elements longer than it is wide.
    """
    *outer, rows, columns = x.shape
    *steps, row_step, column_step = x.stride()
    out = torch.empty((*outer, columns, rows), dtype=x.dtype)
    if not out.numel():
        return out
    tile = 16 if group_size(256) == 256 else 8
    items = [-(-columns // each), -(-rows // each), out.numel() // (rows * columns)]
    launch(
        _SOURCE, kernel, items, [x, out, rows, columns, sizes(outer), strides(steps), row_step, column_step],
        dtype=x.dtype, group=[tile, tile, 1], definitions={"TILE": tile, "PADDING": padding},
    )  # fmt: skip
    return out


@implementation("transpose", paradigm="opencl")
def naive(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped; neighbouring work-items read neighbours and write far apart."""
    return _launch("naive", x)


@implementation("transpose", paradigm="opencl", optimizes="naive", technique="vector loads")
def vectorized(x: torch.Tensor) -> torch.Tensor:
    """Return the same; a work-item reads four neighbours of each of four rows, and writes four of each column."""
    return _launch("vectorized", x, each=4)


@implementation("transpose", paradigm="opencl", optimizes="naive", technique="tiles in shared memory")
def tiled(x: torch.Tensor) -> torch.Tensor:
    """Return the same; a tile is read along its rows, and its columns, in local memory, are written along rows."""
    return _launch("tiled", x)


@implementation("transpose", paradigm="opencl", optimizes="tiled", technique="padded tile")
def padded(x: torch.Tensor) -> torch.Tensor:
    """Return the same; each row of a tile is one element longer, so that a column lies in all banks of the memory."""
    return _launch("tiled", x, padding=1)
