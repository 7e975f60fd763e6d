"""gemm in Triton: a program computes one tile of the product.

float16 and bfloat16 are accumulated in float32. Outside of the operands zeros are read, on both sides of a product,
so that nothing that lies beyond the end of k can leak in.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation

GROUP = 8
"""Rows of tiles that a grouped order finishes before it goes on to the next ones."""

SLICES = 8
"""The most slices that k is cut into."""

SUM_BLOCK = 1024
"""Elements a program where slices are summed."""

WARPS = 8
"""Warps a program: with fewer, accumulators of 64 times 64 spill on architectures of small register files."""

_TILES = {
    torch.float64: (32, 32, 16),
    torch.float32: (64, 64, 32),
    torch.float16: (64, 64, 64),
    torch.bfloat16: (64, 64, 64),
}


@triton.jit
def _place(tile, m, n, M: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr):
    """Return the row and the column of a tile: row-major for a group of 1, else down the columns of each group."""
    width = GROUP * tl.cdiv(n, N)
    above = tile // width * GROUP
    height = tl.minimum(tl.cdiv(m, M) - above, GROUP)
    return above + tile % width % height, tile % width // height


@triton.jit
def _tiled(
    a, b, out, m, n, k, batches, span, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of ``out`` (slices, batches, m, n): the product over one slice, which is ``span`` steps of k."""
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    tile_row, tile_column = _place(tl.program_id(0) % tiles, m, n, M, N, GROUP)
    matrix = (tl.program_id(0) // tiles).to(tl.int64)
    row = tile_row.to(tl.int64) * M + tl.arange(0, M)[:, None]
    column = tile_column.to(tl.int64) * N + tl.arange(0, N)[None, :]
    left = a + matrix % batches * a_batch + row * a_row
    right = b + matrix % batches * b_batch + column * b_column
    begin = matrix // batches * span
    total = tl.zeros((M, N), WIDE)
    for step in range(0, span, K):
        inner = begin + step + tl.arange(0, K)
        across, down = inner[None, :], inner[:, None]
        total = tl.dot(
            tl.load(left + across * a_inner, mask=(row < m) & (across < k), other=0.0),
            tl.load(right + down * b_inner, mask=(down < k) & (column < n), other=0.0),
            total,
            input_precision=PRECISION,
            out_dtype=WIDE,
        )
    tl.store(out + matrix * m * n + row * n + column, total, mask=(row < m) & (column < n))


@triton.jit
def _sum(partial, out, count, slices, BLOCK: tl.constexpr):
    """Write the sum over the slices of ``partial``, ``count`` elements each, always in the same order."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), partial.dtype.element_ty)
    for _ in range(0, slices):
        total += tl.load(partial + index, mask=index < count, other=0.0)
        partial += count
    tl.store(out + index, total, mask=index < count)


def _multiply(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, *, span: int, group: int, precision: str) -> None:
    """Fill ``out``, (slices, batches, m, n) or less, with the products over ``span`` steps of k each."""
    if not out.numel():
        return
    m, n = out.shape[-2:]
    tile_m, tile_n, tile_k = _TILES[a.dtype]
    matrices = out.numel() // (m * n)
    batches = a.shape[0] if a.dim() == 3 else 1
    _tiled[(matrices * triton.cdiv(m, tile_m) * triton.cdiv(n, tile_n),)](
        a, b, out, m, n, a.shape[-1], batches, span, *(0, *a.stride())[-3:], *(0, *b.stride())[-3:],
        M=tile_m, N=tile_n, K=tile_k, GROUP=group, PRECISION=precision,
        WIDE=tl.float64 if a.dtype == torch.float64 else tl.float32, num_warps=WARPS,
    )  # fmt: skip


def _empty_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)


@implementation("gemm", paradigm="triton")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, tiles in row-major order."""
    out = _empty_product(a, b)
    _multiply(a, b, out, span=a.shape[-1], group=1, precision="ieee")
    return out


@implementation("gemm", paradigm="triton", optimizes="naive", technique="grouped program order")
def grouped(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; tiles that are computed at about the same time share rows and columns, which caches keep."""
    out = _empty_product(a, b)
    _multiply(a, b, out, span=a.shape[-1], group=GROUP, precision="ieee")
    return out


@implementation("gemm", paradigm="triton", optimizes="naive", technique="split-K")
def split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; slices of k are multiplied in parallel into a wide workspace and summed in a fixed order."""
    out = _empty_product(a, b)
    k, tile_k = a.shape[-1], _TILES[a.dtype][2]
    span = tile_k * max(1, triton.cdiv(k, SLICES * tile_k))
    slices = max(1, triton.cdiv(k, span))
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    partial = torch.empty((slices, *out.shape), dtype=wide, device=a.device)
    _multiply(a, b, partial, span=span, group=1, precision="ieee")
    if count := out.numel():
        _sum[(triton.cdiv(count, SUM_BLOCK),)](partial, out, count, slices, BLOCK=SUM_BLOCK)
    return out


@implementation(
    "gemm", paradigm="triton", optimizes="naive", technique="tf32 operands", numerics="tf32", dtypes=("float32",)
)
def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, with operands rounded to tf32."""
    out = _empty_product(a, b)
    _multiply(a, b, out, span=a.shape[-1], group=1, precision="tf32")
    return out
