"""gemm in TileLang: a thread for each element of the product, or a block of threads for a tile, by matrix units.

float16 and bfloat16 are accumulated in float32. What lies beyond the operands is read as zeros.
"""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, VECTOR, aligned, compiled, in_grids, in_vectors, wide

SIDE = 16
"""Rows and columns of a block of threads, one element each."""

PANEL = 8
"""Rows of tiles that a grouped order finishes before it goes on to the next ones."""

BLOCK = 1024
"""Elements of a block of threads where slices are summed."""

SLICES = 8
"""The most slices that k is cut into."""

FEW = 64
"""Tiles of a product that do not keep a device busy."""

LEAST = 512
"""Products that a slice sums at least."""

_NARROW = ("float16", "bfloat16")

_UNITS = ("shared memory", "matrix unit")

_BULK = (*_UNITS, "bulk copies")

_SMALL, _LARGE = (64, 64, 32), (128, 256, 64)
"""Rows and columns of a tile, and how far it goes along k at a time."""

_STAGES = 3


def _naive(dtype: str) -> Any:
    batches, m, n, k = (T.dynamic(name) for name in ("batches", "m", "n", "k"))
    accumulator = wide(dtype)

    @T.prim_func
    def gemm(
        a: T.Tensor((batches, m, k), dtype), b: T.Tensor((batches, k, n), dtype), out: T.Tensor((batches, m, n), dtype)
    ):
        with T.Kernel(T.ceildiv(n, SIDE), T.ceildiv(m, SIDE), batches, threads=SIDE * SIDE) as (bx, by, bz):
            total = T.alloc_local((1,), accumulator)
            for i, j in T.Parallel(SIDE, SIDE):
                if (by * SIDE + i < m) & (bx * SIDE + j < n):
                    total[0] = 0
                    for step in T.serial(k):
                        left, right = a[bz, by * SIDE + i, step], b[bz, step, bx * SIDE + j]
                        total[0] += T.cast(left, accumulator) * T.cast(right, accumulator)
                    out[bz, by * SIDE + i, bx * SIDE + j] = T.cast(total[0], dtype)

    return gemm


def _tiled(dtype: str, tile: tuple[int, int, int]) -> Any:
    batches, m, n, k = (T.dynamic(name) for name in ("batches", "m", "n", "k"))
    height, width, depth = tile

    @T.prim_func
    def gemm(
        a: T.Tensor((batches, m, k), dtype), b: T.Tensor((batches, k, n), dtype), out: T.Tensor((batches, m, n), dtype)
    ):
        with T.Kernel(T.ceildiv(n, width), T.ceildiv(m, height), batches, threads=THREADS) as (bx, by, bz):
            left = T.alloc_shared((height, depth), dtype)
            right = T.alloc_shared((depth, width), dtype)
            total = T.alloc_fragment((height, width), "float32")
            T.clear(total)
            for step in T.serial(T.ceildiv(k, depth)):
                T.copy(a[bz, by * height, step * depth], left)
                T.copy(b[bz, step * depth, bx * width], right)
                T.gemm(left, right, total)
            T.copy(total, out[bz, by * height, bx * width])

    return gemm


def _pipelined(dtype: str, tile: tuple[int, int, int], panel: int) -> Any:
    """Return the same, whose copies run ahead of the products; ``panel`` 0 is the row-major order of tiles."""
    batches, m, n, k = (T.dynamic(name) for name in ("batches", "m", "n", "k"))
    height, width, depth = tile

    @T.prim_func
    def gemm(
        a: T.Tensor((batches, m, k), dtype), b: T.Tensor((batches, k, n), dtype), out: T.Tensor((batches, m, n), dtype)
    ):
        with T.Kernel(T.ceildiv(n, width), T.ceildiv(m, height), batches, threads=2 * THREADS) as (bx, by, bz):
            left = T.alloc_shared((height, depth), dtype)
            right = T.alloc_shared((depth, width), dtype)
            total = T.alloc_fragment((height, width), "float32")
            T.assume(n % VECTOR == 0)
            T.assume(k % VECTOR == 0)
            T.use_swizzle(panel, enable=panel > 0)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=_STAGES):
                T.copy(a[bz, by * height, step * depth], left)
                T.copy(b[bz, step * depth, bx * width], right)
                T.gemm(left, right, total, policy=T.GemmWarpPolicy.FullRow)
            T.copy(total, out[bz, by * height, bx * width])

    return gemm


def _split(dtype: str, tile: tuple[int, int, int]) -> Any:
    """Return the same for one product, each of ``slices`` of k on its own, in float32."""
    slices, m, n, k = (T.dynamic(name) for name in ("slices", "m", "n", "k"))
    height, width, depth = tile

    @T.prim_func
    def gemm(a: T.Tensor((m, k), dtype), b: T.Tensor((k, n), dtype), out: T.Tensor((slices, m, n), "float32")):
        with T.Kernel(T.ceildiv(n, width), T.ceildiv(m, height), slices, threads=2 * THREADS) as (bx, by, bz):
            left = T.alloc_shared((height, depth), dtype)
            right = T.alloc_shared((depth, width), dtype)
            total = T.alloc_fragment((height, width), "float32")
            T.assume(n % VECTOR == 0)
            T.assume(k % VECTOR == 0)
            steps = T.ceildiv(T.ceildiv(k, depth), slices)
            T.clear(total)
            for step in T.Pipelined(steps, num_stages=_STAGES):
                T.copy(a[by * height, (bz * steps + step) * depth], left)
                T.copy(b[(bz * steps + step) * depth, bx * width], right)
                T.gemm(left, right, total, policy=T.GemmWarpPolicy.FullRow)
            T.copy(total, out[bz, by * height, bx * width])

    return gemm


def _added(dtype: str) -> Any:
    slices, n = T.dynamic("slices"), T.dynamic("n")

    @T.prim_func
    def added(partial: T.Tensor((slices, n), "float32"), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            part = T.alloc_fragment((BLOCK,), "float32")
            total = T.alloc_fragment((BLOCK,), "float32")
            T.assume(n % VECTOR == 0)
            T.clear(total)
            for step in T.serial(slices):
                T.copy(partial[step, bx * BLOCK], part)
                for i in T.Parallel(BLOCK):
                    total[i] += part[i]
            T.copy(total, out[bx * BLOCK])

    return added


def _empty(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    return out if a.shape[-1] else out.zero_()


@implementation("gemm", paradigm="tilelang")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; strided operands are copied first."""
    out = _empty(a, b)
    if out.numel() and a.shape[-1]:
        for matrices in in_grids(*(x.contiguous().view(-1, *x.shape[-2:]) for x in (a, b, out))):
            compiled(_naive, a)(*matrices)
    return out


@implementation(
    "gemm", paradigm="tilelang", optimizes="naive", technique="tiles in shared memory", dtypes=_NARROW, needs=_UNITS
)
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the same, by matrix units; strided operands are copied first."""
    out = _empty(a, b)
    if out.numel() and a.shape[-1]:
        for matrices in in_grids(*(aligned(x).view(-1, *x.shape[-2:]) for x in (a, b, out))):
            compiled(_tiled, a, _SMALL)(*matrices)
    return out


def _in_vectors(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return both, with zeros that make k and n multiples of :data:`VECTOR`."""
    return in_vectors(a), in_vectors(torch.nn.functional.pad(b, (0, 0, 0, -b.shape[-2] % VECTOR)))


def _ahead(a: torch.Tensor, b: torch.Tensor, panel: int) -> torch.Tensor:
    """Return ``a @ b``; operands are copied first, and padded, where they do not lie as bulk copies need it."""
    left, right = _in_vectors(a, b)
    out = _empty(left, right)
    if out.numel() and a.shape[-1]:
        for matrices in in_grids(*(x.view(-1, *x.shape[-2:]) for x in (left, right, out))):
            compiled(_pipelined, a, _LARGE, panel)(*matrices)
    return out[..., : b.shape[-1]].contiguous()


@implementation(
    "gemm", paradigm="tilelang", optimizes="tiled", technique="software pipelining", dtypes=_NARROW, needs=_BULK
)
def pipelined(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the same: the next tiles are on their way, by bulk copies, while matrix units are at work."""
    return _ahead(a, b, 0)


@implementation(
    "gemm", paradigm="tilelang", optimizes="pipelined", technique="grouped program order", dtypes=_NARROW, needs=_BULK
)
def grouped(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the same, with tiles in an order that finds operands in the second-level cache."""
    return _ahead(a, b, PANEL)


@implementation("gemm", paradigm="tilelang", optimizes="pipelined", technique="split-K", dtypes=_NARROW, needs=_BULK)
def split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the same; where there are few tiles, slices of k are summed side by side, then their sums."""
    (m, k), n = a.shape[-2:], b.shape[-1]
    slices = min(SLICES, k // LEAST)
    if a.dim() > 2 or slices < 2 or not m * n or -(-m // _LARGE[0]) * -(-n // _LARGE[1]) > FEW:
        return pipelined(a, b)
    left, right = _in_vectors(a, b)
    partial = torch.empty((slices, m, right.shape[-1]), dtype=torch.float32, device=a.device)
    compiled(_split, a, _LARGE)(left, right, partial)
    out = torch.empty(partial.shape[1:], dtype=a.dtype, device=a.device)
    compiled(_added, a)(partial.view(slices, -1), out.view(-1))
    return out[:, :n].contiguous()
