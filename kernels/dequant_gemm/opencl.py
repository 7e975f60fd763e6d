"""dequant_gemm in OpenCL: a work-item for an element, then weights that a work-group dequantizes once."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch

TILE = 8
"""Work-items along each side of a work-group, and steps of k that local memory holds."""

_SOURCE = r"""
#define ARGUMENTS                                                                                             \
    __global const T *a, long a_at, __global const uchar *packed, long packed_at, __global const T *scales,   \
    long scales_at, __global const uchar *zeros, long zeros_at, __global T *out, long out_at, long m, long n, long k, \
    long bits, long group_size, long4 a_stride, long4 packed_stride, long4 scales_stride, long4 zeros_stride

#define WEIGHT(row, column)                                                                                   \
    weight(packed + packed_at, scales + scales_at, zeros + zeros_at, row, column, bits, group_size, packed_stride, \
           scales_stride, zeros_stride)

// The weight in row ``row`` of k: of 4 bits, the even row is the low half of a byte.
WIDE weight(
    __global const uchar *packed, __global const T *scales, __global const uchar *zeros, long row, long column,
    long bits, long group_size, long4 packed_stride, long4 scales_stride, long4 zeros_stride)
{
    const long shared = row / group_size;
    int code;
    if (bits == 4)
        code = packed[row / 2 * packed_stride.z + column * packed_stride.w] >> (row % 2 * 4) & 15;
    else
        code = packed[row * packed_stride.z + column * packed_stride.w];
    const int zero = zeros[shared * zeros_stride.z + column * zeros_stride.w];
    return (code - zero) * LOAD(scales, shared * scales_stride.z + column * scales_stride.w);
}

__kernel void naive(ARGUMENTS)
{
    const long row = get_global_id(1), column = get_global_id(0);
    if (row >= m || column >= n)
        return;
    a += a_at + row * a_stride.z;
    WIDE sum = 0;
    for (long i = 0; i < k; i++)
        sum += LOAD(a, i * a_stride.w) * WEIGHT(i, column);
    STORE(out, out_at + row * n + column, sum);
}

__kernel void tiled(ARGUMENTS)
{
    __local WIDE left[TILE][TILE], weights[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const long row = get_global_id(1), column = get_global_id(0);
    a += a_at;
    WIDE sum = 0;
    for (long start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? LOAD(a, row * a_stride.z + (start + x) * a_stride.w) : (WIDE)0;
        weights[y][x] = start + y < k && column < n ? WEIGHT(start + y, column) : (WIDE)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += left[y][i] * weights[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        STORE(out, out_at + row * n + column, sum);
}
"""


def _launch(
    kernel: str,
    a: torch.Tensor,
    packed: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    bits: int,
    group_size: int,
) -> torch.Tensor:
    (m, k), n = a.shape, packed.shape[1]
    out = torch.empty((m, n), dtype=a.dtype)
    if out.numel():
        geometry = ((0, 0, *one.stride()) for one in (a, packed, scales, zeros))
        launch(
            _SOURCE, kernel, [n, m], [a, packed, scales, zeros, out, m, n, k, bits, group_size, *geometry],
            dtype=a.dtype, group=[TILE, TILE], definitions={"TILE": TILE},
        )  # fmt: skip
    return out


@implementation("dequant_gemm", paradigm="opencl")
def naive(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights; each work-item dequantizes the column that it multiplies by, in float32."""
    return _launch("naive", a, packed, scales, zeros, bits, group_size)


@implementation("dequant_gemm", paradigm="opencl", optimizes="naive", technique="dequantized tiles in shared memory")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same; a work-group dequantizes a tile of weights once, and all its rows are multiplied by it."""
    return _launch("tiled", a, packed, scales, zeros, bits, group_size)
