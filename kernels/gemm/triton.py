"""gemm in Triton: a program computes one tile of the product.

float16 and bfloat16 are accumulated in float32. Outside of the operands zeros are read, on both sides of a product,
so that nothing that lies beyond the end of k can leak in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels import implementation
from kernels.toolchains.triton import wide, wide_in_torch
from kernels.toolchains.triton_products import (
    ALIGNMENT,
    GROUP,
    TILES,
    Tile,
    add_slices,
    describable,
    fitting,
    multiplied,
    multiprocessors,
    place,
)

SLICES = 8
"""The most slices that k is cut into."""

WARPS = 8
"""Warps a program: with fewer, accumulators of 64 times 64 spill on architectures of small register files."""

_NARROW = ("float16", "bfloat16")

_TILES = {
    torch.float64: (32, 32, 16),
    torch.float32: (64, 64, 32),
    torch.float16: (64, 64, 64),
    torch.bfloat16: (64, 64, 64),
}


@triton.jit
def _tiled(
    a, b, out, m, n, k, batches, span, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of ``out`` (slices, batches, m, n): the product over one slice, which is ``span`` steps of k."""
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    tile_row, tile_column = place(tl.program_id(0) % tiles, m, n, M, N, GROUP)
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
def _whole(
    tile, a, b, out, m, n, k, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of ``out`` (batches, m, n), without masks where there is nothing to mask."""
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    tile_row, tile_column = place(tile % tiles, m, n, M, N, GROUP)
    matrix = (tile // tiles).to(tl.int64)
    row, column = tile_row * M + tl.arange(0, M), tile_column * N + tl.arange(0, N)
    total = multiplied(
        a + matrix * a_batch, b + matrix * b_batch, row, column, m, n, k, a_row, a_inner, b_inner, b_column,
        M, N, K, EVEN_K, PRECISION, WIDE,
    )  # fmt: skip
    target = out + matrix * m * n + row.to(tl.int64)[:, None] * n + column[None, :]
    tl.store(target, total, mask=(row[:, None] < m) & (column[None, :] < n))


def _even(arguments: Mapping[str, Any]) -> bool:
    return arguments["k"] % arguments["K"] == 0


@triton.heuristics({"EVEN_K": _even})
@triton.jit
def _each(
    a, b, out, m, n, k, size, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile a program; ``size`` is what tuned tiles are chosen by."""
    _whole(
        tl.program_id(0), a, b, out, m, n, k, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
        M, N, K, GROUP, EVEN_K, PRECISION, WIDE,
    )  # fmt: skip


@triton.heuristics({"EVEN_K": _even})
@triton.jit
def _in_turn(
    a, b, out, m, n, k, count, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write all ``count`` tiles, by programs that stay and take one after the other."""
    for tile in tl.range(tl.program_id(0), count, tl.num_programs(0)):
        _whole(
            tile, a, b, out, m, n, k, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
            M, N, K, GROUP, EVEN_K, PRECISION, WIDE,
        )  # fmt: skip


@triton.heuristics({"EVEN_K": _even})
@triton.jit
def _streamed(
    a, b, out, parts, m, n, k, count, share, a_batch, a_row, a_inner, b_batch, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Do one ``share`` of the ``count`` steps of k that all tiles need together, wherever tiles begin and end.

    Tiles done whole are written; of others, what is done goes to ``parts`` (programs, 2, M, N): the second half of the
    one that the share begins in, or the first half of the one that it ends in.
    """
    steps = tl.maximum(tl.cdiv(k, K), 1)
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    step = tl.program_id(0).to(tl.int64) * share
    end = tl.minimum(step + share, count)
    while step < end:
        tile, begin = step // steps, step % steps
        stop = tl.minimum(begin + end - step, steps)
        tile_row, tile_column = place(tile % tiles, m, n, M, N, GROUP)
        matrix = tile // tiles
        row, column = tile_row * M + tl.arange(0, M), tile_column * N + tl.arange(0, N)
        total = multiplied(
            a + matrix * a_batch + begin * K * a_inner, b + matrix * b_batch + begin * K * b_inner,
            row, column, m, n, tl.minimum(k, stop * K) - begin * K, a_row, a_inner, b_inner, b_column,
            M, N, K, EVEN_K, PRECISION, WIDE,
        )  # fmt: skip
        if stop - begin == steps:
            target = out + matrix * m * n + row[:, None] * n + column[None, :]
            tl.store(target, total, mask=(row[:, None] < m) & (column[None, :] < n))
        else:
            half = tl.program_id(0).to(tl.int64) * 2 + (begin == 0).to(tl.int64)
            tl.store(parts + half * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], total)
        step += stop - begin


@triton.jit
def _mended(
    parts, out, m, n, steps, share,
    M: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write a tile that several shares of steps meet in: the sum of its ``parts``, always in the same order."""
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    tile = tl.program_id(0).to(tl.int64)
    first, last = tile * steps // share, ((tile + 1) * steps - 1) // share
    if first < last:
        down, across = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
        total = tl.zeros((M, N), WIDE)
        for program in range(first, last + 1):
            half = program * 2 + (program * share <= tile * steps).to(tl.int64)
            total += tl.load(parts + half * M * N + down * N + across)
        tile_row, tile_column = place(tile % tiles, m, n, M, N, GROUP)
        row, column = tile_row * M + down, tile_column * N + across
        tl.store(out + tile // tiles * m * n + row * n + column, total, mask=(row < m) & (column < n))


@triton.jit
def _described(
    a, b, out, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, STORED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write all tiles in turn. ``a`` and ``b`` are descriptors, which know the ends, and ``out`` if ``STORED``."""
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * tl.cdiv(n, N), tl.num_programs(0)):
        tile_row, tile_column = place(tile, m, n, M, N, GROUP)
        above, before = tile_row * M, tile_column * N
        total = tl.zeros((M, N), WIDE)
        for start in range(0, k, K):
            total = tl.dot(a.load([above, start]), b.load([start, before]), total, out_dtype=WIDE)
        if STORED:
            out.store([above, before], total.to(out.dtype))
        else:
            row, column = above + tl.arange(0, M)[:, None], before + tl.arange(0, N)[None, :]
            tl.store(out + row.to(tl.int64) * n + column, total, mask=(row < m) & (column < n))


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


def _launch(kernel: Any, a: torch.Tensor, b: torch.Tensor, tile: Tile, *, programs: int | None = None) -> torch.Tensor:
    """Return ``a @ b`` by ``kernel`` in tiles like ``tile``, one a program, or by so many ``programs``."""
    out = _empty_product(a, b)
    if not out.numel():
        return out
    m, n = out.shape[-2:]
    tiles = out.numel() // (m * n) * triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n)
    kernel[(min(programs or tiles, tiles),)](
        a, b, out, m, n, a.shape[-1], tiles, *(0, *a.stride())[-3:], *(0, *b.stride())[-3:],
        M=tile.m, N=tile.n, K=tile.k, GROUP=GROUP, PRECISION="ieee", WIDE=wide(a.dtype),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    return out


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
    add_slices(partial, out)
    return out


@implementation(
    "gemm", paradigm="triton", optimizes="naive", technique="tf32 operands", numerics="tf32", dtypes=("float32",)
)
def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, with operands rounded to tf32."""
    out = _empty_product(a, b)
    _multiply(a, b, out, span=a.shape[-1], group=1, precision="tf32")
    return out


@implementation("gemm", paradigm="triton", optimizes="grouped", technique="large tiles, addresses moved on")
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b`` in tiles that fill the registers; inside, there are no masks and addresses are added to."""
    tile = fitting(TILES[a.dtype], a)[0]
    return _launch(_each, a, b, tile._replace(stages=1))


@implementation("gemm", paradigm="triton", optimizes="tiled", technique="software pipelining")
def pipelined(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; while tiles are multiplied, the next ones are on their way into shared memory."""
    return _launch(_each, a, b, fitting(TILES[a.dtype], a)[0])


@implementation("gemm", paradigm="triton", optimizes="pipelined", technique="persistent programs")
def persistent(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b`` by as many programs as there are multiprocessors, which take one tile after the other."""
    return _launch(_in_turn, a, b, fitting(TILES[a.dtype], a)[0], programs=multiprocessors(a))


@implementation("gemm", paradigm="triton", optimizes="persistent", technique="stream-K")
def stream_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; every program does as many steps of k as the others, and tiles that these share are mended.

    Osama et al., "Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication on the GPU",
    PPoPP 2023; here a second kernel sums up, so that no program waits for another.
    """
    out = _empty_product(a, b)
    if not out.numel():
        return out
    (m, n), k = out.shape[-2:], a.shape[-1]
    tile = fitting(TILES[a.dtype], a)[0]
    tiles = out.numel() // (m * n) * triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n)
    steps = max(1, triton.cdiv(k, tile.k))
    share = triton.cdiv(tiles * steps, multiprocessors(a))
    programs = triton.cdiv(tiles * steps, share)
    constants = {"M": tile.m, "N": tile.n, "GROUP": GROUP, "WIDE": wide(a.dtype), "num_warps": tile.warps}
    parts = torch.empty((programs, 2, tile.m, tile.n), dtype=wide_in_torch(a.dtype), device=a.device)
    _streamed[(programs,)](
        a, b, out, parts, m, n, k, tiles * steps, share, *(0, *a.stride())[-3:], *(0, *b.stride())[-3:],
        K=tile.k, PRECISION="ieee", num_stages=tile.stages, **constants,
    )  # fmt: skip
    if share % steps:  # else no tile is shared
        _mended[(tiles,)](parts, out, m, n, steps, share, **constants)
    return out


@implementation("gemm", paradigm="triton", optimizes="persistent", technique="tensor descriptors", dtypes=_NARROW)
def described(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; tiles of operands, copied first if these lie otherwise, are fetched by tensor descriptors.

    A batch is one launch for each of its matrices. Without anything to sum, there is nothing to describe.
    """
    out = _empty_product(a, b)
    if not out.numel() or not a.shape[-1]:
        return out.zero_()
    tile = fitting(TILES[a.dtype], a)[0]
    for left, right, result in zip(*(x.reshape(-1, *x.shape[-2:]) for x in (a, b, out)), strict=True):
        _describe(describable(left), describable(right), result, tile)
    return out


def _describe(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, tile: Tile) -> None:
    """Fill ``out`` (m, n) with ``a @ b``; it is stored by a descriptor too, unless its rows do not begin aligned."""
    m, n = out.shape
    stored = n * out.element_size() % ALIGNMENT == 0 and out.data_ptr() % ALIGNMENT == 0
    programs = min(multiprocessors(a), triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n))
    _described[(programs,)](
        TensorDescriptor.from_tensor(a, [tile.m, tile.k]), TensorDescriptor.from_tensor(b, [tile.k, tile.n]),
        TensorDescriptor.from_tensor(out, [tile.m, tile.n]) if stored else out, m, n, a.shape[-1],
        M=tile.m, N=tile.n, K=tile.k, GROUP=GROUP, STORED=stored, WIDE=wide(a.dtype),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip


TUNED = (
    Tile(128, 256, 64, warps=8, stages=4),
    Tile(128, 256, 64, warps=8, stages=3),
    Tile(128, 128, 64, warps=4, stages=4),
    Tile(128, 128, 64, warps=8, stages=3),
    Tile(64, 128, 64, warps=4, stages=4),
    Tile(64, 64, 64, warps=4, stages=3),
    Tile(64, 64, 32, warps=4, stages=2),
)
"""Tiles that are tried, for each size of a product."""


def _fit(configs: Sequence[Any], arguments: Mapping[str, Any], **_: Any) -> list[Any]:
    """Return the configurations that fit the device."""
    return [_config(tile) for tile in fitting(TUNED, arguments["a"])]


def _config(tile: Tile) -> Any:
    sizes = {"M": tile.m, "N": tile.n, "K": tile.k}
    return triton.Config(sizes, num_warps=tile.warps, num_stages=tile.stages)


_tuned = triton.autotune(
    [_config(tile) for tile in TUNED], key=["size"], prune_configs_by={"early_config_prune": _fit}
)(_each)


@implementation("gemm", paradigm="triton", optimizes="pipelined", technique="autotuned tiles", dtypes=_NARROW)
def autotuned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b`` in the tiles that were fastest for the first product of about this size."""
    if triton.knobs.runtime.interpret:  # on which there is nothing to measure
        return _launch(_each, a, b, TUNED[0])
    out = _empty_product(a, b)
    if not out.numel():
        return out
    m, n = out.shape[-2:]
    matrices = out.numel() // (m * n)
    size = min(max(triton.next_power_of_2(min(m, n)), 64), 4096)
    _tuned[lambda tile: (matrices * triton.cdiv(m, tile["M"]) * triton.cdiv(n, tile["N"]),)](
        a, b, out, m, n, a.shape[-1], size, *(0, *a.stride())[-3:], *(0, *b.stride())[-3:],
        GROUP=GROUP, PRECISION="ieee", WIDE=wide(a.dtype),
    )  # fmt: skip
    return out
