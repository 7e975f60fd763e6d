"""grouped_gemm in Triton: a launch for each group, or one for all, whose programs find their group themselves."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide
from kernels.toolchains.triton_products import TILES, Tile, fitting, multiplied


@triton.jit
def _write(
    x, w, out, begin, end, tile_row, tile_column, n, k, x_row, x_inner, w_inner, w_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN_K: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of the product of rows ``begin`` to ``end`` of ``x`` with matrix ``w``."""
    row, column = tile_row * M + tl.arange(0, M), tile_column * N + tl.arange(0, N)
    first, rows = begin.to(tl.int64), end - begin
    total = multiplied(
        x + first * x_row, w, row, column, rows, n, k, x_row, x_inner, w_inner, w_column, M, N, K, EVEN_K, "ieee", WIDE
    )  # fmt: skip
    target = out + (first + row)[:, None] * n + column[None, :]
    tl.store(target, total, mask=(row[:, None] < rows) & (column[None, :] < n))


@triton.jit
def _one_group(
    x, w, out, begin, end, n, k, x_row, x_inner, w_inner, w_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN_K: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(n, N)
    tile_row, tile_column = tl.program_id(0) // across, tl.program_id(0) % across
    _write(
        x, w, out, tl.cast(begin, tl.int64), tl.cast(end, tl.int64), tile_row, tile_column, n, k,
        x_row, x_inner, w_inner, w_column, M, N, K, EVEN_K, WIDE,
    )  # fmt: skip


@triton.jit
def _all_groups(
    x, w, sizes, out, groups, n, k, x_row, x_inner, w_group, w_inner, w_column, sizes_step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN_K: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of one group; of programs there are as many as might be needed, and some have nothing to do."""
    across = tl.cdiv(n, N)
    strip, tile_column = tl.program_id(0) // across, tl.program_id(0) % across
    # Groups are gone through until the one that has this strip of rows: strips, as rows, are counted up to it.
    group, begin, end, strips = -1, tl.cast(0, tl.int64), tl.cast(0, tl.int64), 0
    rows, mine = tl.cast(0, tl.int64), 0
    for candidate in range(0, groups):
        size = tl.load(sizes + tl.cast(candidate, tl.int64) * sizes_step).to(tl.int64)
        here = tl.cdiv(size, M).to(tl.int32)
        found = (strips <= strip) & (strip < strips + here)
        group = tl.where(found, candidate, group)
        begin, end = tl.where(found, rows, begin), tl.where(found, rows + size, end)
        mine = tl.where(found, strip - strips, mine)
        strips, rows = strips + here, rows + size
    if group >= 0:
        matrix = w + tl.cast(group, tl.int64) * w_group
        _write(
            x, matrix, out, begin, end, mine, tile_column, n, k, x_row, x_inner, w_inner, w_column,
            M, N, K, EVEN_K, WIDE,
        )  # fmt: skip


def _tile(x: torch.Tensor) -> Tile:
    """Return a tile of few rows, since most groups have few."""
    tile = fitting(TILES[x.dtype], x)[0]
    return tile._replace(m=min(tile.m, 64), n=min(tile.n, 128), warps=min(tile.warps, 4))


@implementation("grouped_gemm", paradigm="triton")
def launch_each(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return the products of the groups of rows of ``x`` with their matrices; the host waits for the sizes."""
    n, k = w.shape[2], x.shape[1]
    out, tile = torch.empty((x.shape[0], n), dtype=x.dtype, device=x.device), _tile(x)
    begin = 0
    for matrix, size in zip(w, group_sizes.tolist(), strict=True):
        if size and n:
            _one_group[(triton.cdiv(size, tile.m) * triton.cdiv(n, tile.n),)](
                x, matrix, out, begin, begin + size, n, k, *x.stride(), *matrix.stride(),
                M=tile.m, N=tile.n, K=tile.k, EVEN_K=k % tile.k == 0, WIDE=wide(x.dtype),
                num_warps=tile.warps, num_stages=tile.stages,
            )  # fmt: skip
        begin += size
    return out


@implementation("grouped_gemm", paradigm="triton", optimizes="launch_each", technique="one launch for all groups")
def launch_once(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return the same, and nobody waits: each program adds up the sizes until it comes to its own rows."""
    (groups, _, n), (rows, k) = w.shape, x.shape
    out, tile = torch.empty((rows, n), dtype=x.dtype, device=x.device), _tile(x)
    if out.numel():
        # Each group has less than one strip that is not full, and there are no more groups with rows than rows.
        strips = triton.cdiv(rows, tile.m) + min(groups, rows)
        _all_groups[(strips * triton.cdiv(n, tile.n),)](
            x, w, group_sizes, out, groups, n, k, *x.stride(), *w.stride(), group_sizes.stride(0),
            M=tile.m, N=tile.n, K=tile.k, EVEN_K=k % tile.k == 0, WIDE=wide(x.dtype),
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
    return out
