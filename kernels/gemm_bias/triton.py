"""gemm_bias in Triton: the bias in a launch of its own, or added to a tile before it is rounded and stored."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide
from kernels.toolchains.triton_products import GROUP, TILES, fitting, multiplied, place

BLOCK = 1024
"""Elements a program of the launch that adds the bias."""


@triton.jit
def _product(
    a, b, bias, out, m, n, k, a_row, a_inner, b_inner, b_column, step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, BIASED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of the product; with the bias in it if ``BIASED``."""
    tile_row, tile_column = place(tl.program_id(0), m, n, M, N, GROUP)
    row, column = tile_row * M + tl.arange(0, M), tile_column * N + tl.arange(0, N)
    total = multiplied(
        a, b, row, column, m, n, k, a_row, a_inner, b_inner, b_column, M, N, K, EVEN_K, "ieee", WIDE
    )  # fmt: skip
    if BIASED:
        added = tl.load(bias + column.to(tl.int64) * step, mask=column < n, other=0.0)
        total += added.to(WIDE)[None, :]
    target = out + row.to(tl.int64)[:, None] * n + column[None, :]
    tl.store(target, total, mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def _biased(product, bias, out, count, n, step, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(product + index, mask=index < count, other=0.0)
    added = tl.load(bias + index % n * step, mask=index < count, other=0.0).to(product.dtype.element_ty)
    tl.store(out + index, value + added, mask=index < count)


def _multiply(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, out: torch.Tensor, *, biased: bool) -> None:
    (m, n), k = out.shape, a.shape[1]
    tile = fitting(TILES[a.dtype], a)[0]
    _product[(triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n),)](
        a, b, bias, out, m, n, k, *a.stride(), *b.stride(), bias.stride(0),
        M=tile.m, N=tile.n, K=tile.k, GROUP=GROUP, EVEN_K=k % tile.k == 0, BIASED=biased, WIDE=wide(a.dtype),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip


@implementation("gemm_bias", paradigm="triton")
def two_launches(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b + bias``: the product goes to memory in float32 or wider, and comes back for the bias."""
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    if count := out.numel():
        product = torch.empty(out.shape, dtype=torch.promote_types(a.dtype, torch.float32), device=a.device)
        _multiply(a, b, bias, product, biased=False)
        _biased[(triton.cdiv(count, BLOCK),)](product, bias, out, count, out.shape[1], bias.stride(0), BLOCK=BLOCK)
    return out


@implementation("gemm_bias", paradigm="triton", optimizes="two_launches", technique="bias in the epilogue")
def fused(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b + bias``, which is added while a tile is still in registers."""
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    if out.numel():
        _multiply(a, b, bias, out, biased=True)
    return out
