"""gemm in OpenCL: a work-item for an element or four, then tiles in local memory, then several elements a work-item.

float16 and bfloat16 are accumulated in float32. Outside of the operands zeros are read, on both sides of a product.
"""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch

TILE = 8
"""Work-items along each side of a work-group, and steps of k that local memory holds."""

EACH = 4
"""Rows that a work-item has where it has several; there it has four columns, a vector."""

_SOURCE = r"""
#define ARGUMENTS                                                                                       \
    __global const T *a, long a_at, __global const T *b, long b_at, __global T *out, long out_at, long m, long n, \
    long k, long4 a_stride, long4 b_stride

// The strides of an operand are those of the batch, the rows and the columns, in y, z and w.
#define BATCH(stride) ((long)get_global_id(2) * (stride).y)

__kernel void naive(ARGUMENTS)
{
    const long row = get_global_id(1), column = get_global_id(0);
    if (row >= m || column >= n)
        return;
    a += a_at + BATCH(a_stride) + row * a_stride.z;
    b += b_at + BATCH(b_stride) + column * b_stride.w;
    WIDE sum = 0;
    for (long i = 0; i < k; i++)
        sum += LOAD(a, i * a_stride.w) * LOAD(b, i * b_stride.z);
    STORE(out, out_at + (get_global_id(2) * m + row) * n + column, sum);
}

// Four neighbouring columns a work-item, one by one where they do not lie side by side.
__kernel void vectorized(ARGUMENTS)
{
    const long row = get_global_id(1), column = 4 * get_global_id(0);
    if (row >= m || column >= n)
        return;
    a += a_at + BATCH(a_stride) + row * a_stride.z;
    b += b_at + BATCH(b_stride) + column * b_stride.w;
    out_at += (get_global_id(2) * m + row) * n + column;
    if (b_stride.w == 1 && column + 4 <= n) {
        WIDE4 sum = (WIDE4)0;
        for (long i = 0; i < k; i++)
            sum += LOAD(a, i * a_stride.w) * LOAD4(b, i * b_stride.z);
        STORE4(out, out_at, sum);
        return;
    }
    for (int c = 0; c < 4 && column + c < n; c++) {
        WIDE sum = 0;
        for (long i = 0; i < k; i++)
            sum += LOAD(a, i * a_stride.w) * LOAD(b, i * b_stride.z + c * b_stride.w);
        STORE(out, out_at + c, sum);
    }
}

__kernel void tiled(ARGUMENTS)
{
    __local WIDE left[TILE][TILE], right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const long row = get_global_id(1), column = get_global_id(0);
    a += a_at + BATCH(a_stride);
    b += b_at + BATCH(b_stride);
    WIDE sum = 0;
    for (long start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? LOAD(a, row * a_stride.z + (start + x) * a_stride.w) : (WIDE)0;
        right[y][x] = start + y < k && column < n ? LOAD(b, (start + y) * b_stride.z + column * b_stride.w) : (WIDE)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += left[y][i] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        STORE(out, out_at + (get_global_id(2) * m + row) * n + column, sum);
}

// A work-item has EACH rows of four neighbouring columns; the group's tile is EACH times as large along each side.
__kernel void register_blocked(ARGUMENTS)
{
    __local WIDE left[TILE][EACH * TILE];
    __local WIDE4 right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const long above = get_group_id(1) * EACH * TILE, before = get_group_id(0) * 4 * TILE;
    a += a_at + BATCH(a_stride);
    b += b_at + BATCH(b_stride);
    WIDE4 sum[EACH];
    for (int j = 0; j < EACH; j++)
        sum[j] = (WIDE4)0;
    for (long start = 0; start < k; start += TILE) {
        for (int j = 0; j < EACH; j++) {
            const long row = above + j * TILE + y;
            left[x][j * TILE + y] =
                row < m && start + x < k ? LOAD(a, row * a_stride.z + (start + x) * a_stride.w) : (WIDE)0;
        }
        __local WIDE *strip = (__local WIDE *)right[y];
        for (int j = 0; j < 4; j++) {
            const long column = before + j * TILE + x;
            strip[j * TILE + x] =
                start + y < k && column < n ? LOAD(b, (start + y) * b_stride.z + column * b_stride.w) : (WIDE)0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < EACH; j++)
                sum[j] += left[i][EACH * y + j] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = 0; j < EACH; j++) {
        const long row = above + EACH * y + j;
        const WIDE results[4] = {sum[j].x, sum[j].y, sum[j].z, sum[j].w};
        for (int c = 0; c < 4; c++) {
            const long column = before + 4 * x + c;
            if (row < m && column < n)
                STORE(out, out_at + (get_global_id(2) * m + row) * n + column, results[c]);
        }
    }
}
"""


def _launch(kernel: str, a: torch.Tensor, b: torch.Tensor, *, across: int = 1, down: int = 1) -> torch.Tensor:
    """Return ``a @ b`` by ``kernel``, whose work-items have so many elements ``across`` and ``down``."""
    (*batch, m, k), n = a.shape, b.shape[-1]
    out = torch.empty((*batch, m, n), dtype=a.dtype)
    if not out.numel():
        return out
    items = [-(-n // across), -(-m // down), out.numel() // (m * n)]
    geometry = (m, n, k, *((0, 0, *one.stride())[-4:] for one in (a, b)))
    launch(
        _SOURCE, kernel, items, [a, b, out, *geometry],
        dtype=a.dtype, group=[TILE, TILE, 1], definitions={"TILE": TILE, "EACH": EACH},
    )  # fmt: skip
    return out


@implementation("gemm", paradigm="opencl")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, each element by one work-item that reads a row and a column."""
    return _launch("naive", a, b)


@implementation("gemm", paradigm="opencl", optimizes="naive", technique="vector loads")
def vectorized(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, four neighbours of a row by one work-item, so that an element of ``a`` serves all of them."""
    return _launch("vectorized", a, b, across=4)


@implementation("gemm", paradigm="opencl", optimizes="naive", technique="tiles in shared memory")
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; a work-group brings tiles of both operands to local memory and multiplies there."""
    return _launch("tiled", a, b)


@implementation("gemm", paradigm="opencl", optimizes="tiled", technique="register blocking")
def register_blocked(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; a work-item has several rows of four columns, so that what it reads serves often."""
    return _launch("register_blocked", a, b, across=4, down=EACH)
