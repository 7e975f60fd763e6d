"""dequant_gemm in TileLang: a thread for each element of the product, or a block of threads for a tile of it.

A block dequantizes the weights of a tile in registers, and multiplies by matrix units.
"""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, VECTOR, Program, aligned, compiled

SIDE = 16
"""Rows and columns of a block of threads, one element each."""

WIDTH, DEPTH = 64, 64
"""Columns of a tile, and how far it goes along k at a time."""

DEEP = 128
"""The same where copies run ahead: to read as fast as memory allows, much must be on its way."""

HEIGHTS = (16, 64)
"""Rows of a tile: the fewest that matrix units take, and more."""

_NARROW = ("float16", "bfloat16")

_UNITS = ("shared memory", "matrix unit")

_STAGES = 6


def _naive(dtype: str, bits: int) -> Any:
    m, n, groups, size = (T.dynamic(name) for name in ("m", "n", "groups", "size"))
    each = 8 // bits

    @T.prim_func
    def dequant_gemm(
        a: T.Tensor((m, groups, size, each), dtype),
        packed: T.Tensor((groups, size, n), "uint8"),
        scales: T.Tensor((groups, n), dtype),
        zeros: T.Tensor((groups, n), "uint8"),
        out: T.Tensor((m, n), dtype),
    ):
        with T.Kernel(T.ceildiv(n, SIDE), T.ceildiv(m, SIDE), threads=SIDE * SIDE) as (bx, by):
            total = T.alloc_local((1,), "float32")
            for i, j in T.Parallel(SIDE, SIDE):
                row, column = by * SIDE + i, bx * SIDE + j
                if (row < m) & (column < n):
                    total[0] = 0
                    for group, step in T.grid(groups, size):
                        for part in T.unroll(each):
                            code = T.cast(packed[group, step, column], "int32") >> (part * bits) & (2**bits - 1)
                            weight = T.cast(code - T.cast(zeros[group, column], "int32"), "float32")
                            weight = weight * T.cast(scales[group, column], "float32")
                            total[0] += T.cast(a[row, group, step, part], "float32") * weight
                    out[row, column] = T.cast(total[0], dtype)

    return dequant_gemm


def _tiled(dtype: str, bits: int, height: int) -> Any:
    m, n, k, size, groups = (T.dynamic(name) for name in ("m", "n", "k", "size", "groups"))
    each = 8 // bits

    @T.prim_func
    def dequant_gemm(
        a: T.Tensor((m, k), dtype),
        packed: T.Tensor((size, n), "uint8"),
        scales: T.Tensor((groups, n), dtype),
        zeros: T.Tensor((groups, n), "uint8"),
        out: T.Tensor((m, n), dtype),
        group_size: T.int32,
    ):
        with T.Kernel(T.ceildiv(n, WIDTH), T.ceildiv(m, height), threads=THREADS) as (bx, by):
            left = T.alloc_shared((height, DEPTH), dtype)
            codes = T.alloc_shared((DEPTH // each, WIDTH), "uint8")
            weights = T.alloc_shared((DEPTH, WIDTH), dtype)
            total = T.alloc_fragment((height, WIDTH), "float32")
            T.clear(total)
            for step in T.serial(T.ceildiv(k, DEPTH)):
                T.copy(a[by * height, step * DEPTH], left)
                T.copy(packed[step * (DEPTH // each), bx * WIDTH], codes)
                for i, j in T.Parallel(DEPTH, WIDTH):
                    group = T.truncdiv(step * DEPTH + i, group_size)
                    code = T.cast(codes[i // each, j], "int32") >> (i % each * bits) & (2**bits - 1)
                    # Beyond the end of k, and of n, scales are read as zeros.
                    weight = T.cast(code - T.cast(zeros[group, bx * WIDTH + j], "int32"), "float32")
                    weights[i, j] = T.cast(weight * T.cast(scales[group, bx * WIDTH + j], "float32"), dtype)
                T.gemm(left, weights, total)
            T.copy(total, out[by * height, bx * WIDTH])

    return dequant_gemm


def _pipelined(dtype: str, bits: int, height: int, group_size: int) -> Any:
    """Return the same for groups of which each has one or more whole tiles, and so a tile one row of scales."""
    m, n, k, size, groups = (T.dynamic(name) for name in ("m", "n", "k", "size", "groups"))
    each = 8 // bits

    @T.prim_func
    def dequant_gemm(
        a: T.Tensor((m, k), dtype),
        packed: T.Tensor((size, n), "uint8"),
        scales: T.Tensor((groups, n), dtype),
        zeros: T.Tensor((groups, n), "uint8"),
        out: T.Tensor((m, n), dtype),
    ):
        with T.Kernel(T.ceildiv(n, WIDTH), T.ceildiv(m, height), threads=THREADS) as (bx, by):
            left = T.alloc_shared((height, DEEP), dtype)
            codes = T.alloc_shared((DEEP // each, WIDTH), "uint8")
            code = T.alloc_fragment((DEEP // each, WIDTH), "uint8")
            scale = T.alloc_fragment((WIDTH,), dtype)
            zero = T.alloc_fragment((WIDTH,), "uint8")
            weights = T.alloc_shared((DEEP, WIDTH), dtype)
            total = T.alloc_fragment((height, WIDTH), "float32")
            T.assume(n % (2 * VECTOR) == 0)
            T.assume(k % DEEP == 0)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, DEEP), num_stages=_STAGES):
                T.copy(a[by * height, step * DEEP], left)
                T.copy(packed[step * (DEEP // each), bx * WIDTH], codes)
                T.copy(scales[step * DEEP // group_size, bx * WIDTH], scale)
                T.copy(zeros[step * DEEP // group_size, bx * WIDTH], zero)
                T.copy(codes, code)
                for i, j in T.Parallel(DEEP // each, WIDTH):
                    for part in T.unroll(each):
                        bare = T.cast(code[i, j], "int32") >> (part * bits) & (2**bits - 1)
                        weight = T.cast(bare - T.cast(zero[j], "int32"), "float32")
                        weights[i * each + part, j] = T.cast(weight * T.cast(scale[j], "float32"), dtype)
                T.gemm(left, weights, total)
            T.copy(total, out[by * height, bx * WIDTH])

    return dequant_gemm


def _launch(
    program: Program,
    a: torch.Tensor,
    packed: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    form: tuple[int, ...],
    *numbers: int,
) -> torch.Tensor:
    out = torch.empty((a.shape[0], scales.shape[1]), dtype=a.dtype, device=a.device)
    if not scales.shape[0]:
        return out.zero_()
    if out.numel():
        compiled(program, a, *form)(*(aligned(x) for x in (a, packed, scales, zeros)), out, *numbers)
    return out


def _height(m: int) -> int:
    return HEIGHTS[m > HEIGHTS[0]]


@implementation("dequant_gemm", paradigm="tilelang")
def naive(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, unpacked and scaled one by one; strided operands are copied first."""
    size = group_size * bits // 8
    left, codes = a.unflatten(1, (-1, size, 8 // bits)), packed.unflatten(0, (-1, size))
    return _launch(_naive, left, codes, scales, zeros, (bits,))


@implementation(
    "dequant_gemm",
    paradigm="tilelang",
    optimizes="naive",
    technique="tiles in shared memory",
    dtypes=_NARROW,
    needs=_UNITS,
)
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same by matrix units, with weights rounded to the dtype of ``a``."""
    return _launch(_tiled, a, packed, scales, zeros, (bits, _height(a.shape[0])), group_size)


@implementation(
    "dequant_gemm",
    paradigm="tilelang",
    optimizes="tiled",
    technique="software pipelining",
    dtypes=_NARROW,
    needs=(*_UNITS, "bulk copies"),
)
def pipelined(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same: the next weights are on their way while these are dequantized, a row of scales a tile.

    Sizes that bulk copies do not take, and groups that are no multiple of a tile, are left to :func:`tiled`.
    """
    if group_size % DEEP or packed.shape[1] % (2 * VECTOR):
        return tiled(a, packed, scales, zeros, bits=bits, group_size=group_size)
    return _launch(_pipelined, a, packed, scales, zeros, (bits, _height(a.shape[0]), group_size))
