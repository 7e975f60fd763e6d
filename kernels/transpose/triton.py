"""transpose in Triton: element by element with strided writes, or in tiles that are turned on the chip.

Turned in a tile, both sides touch memory along their own rows. How the tile lies in shared memory, padded or swizzled
so that its banks do not conflict, is the compiler's choice and no rung of ours.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

BLOCK = 1024
"""Elements a program that moves them one by one."""

SIDES = {1: 128, 2: 64, 4: 64, 8: 32}
"""The side of a tile, by the bytes of an element: rows of at least 128 bytes, and little shared memory."""

LARGE_SIDES = {1: 128, 2: 128, 4: 64, 8: 64}
"""The same where what counts is how long memory is read and written in one place: 32 KiB at most."""


@triton.jit
def _one_by_one(
    x, out, count, size1, size2, size3, x0, x1, x2, x3, out0, out1, out2, out3, BLOCK: tl.constexpr
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + offsets(index, size1, size2, size3, x0, x1, x2, x3), mask=inside)
    tl.store(out + offsets(index, size1, size2, size3, out0, out1, out2, out3), value, mask=inside)


@triton.jit
def _tiles(
    x, out, inner, rows, columns, x0, x1, x_row, x_column, SIDE: tl.constexpr, DIAGONAL: tl.constexpr
):  # fmt: skip
    """Turn one tile of one matrix; ``out`` is contiguous, ``inner`` the second of the two axes before the matrices."""
    down, across = tl.cdiv(rows, SIDE), tl.cdiv(columns, SIDE)
    matrix, tile = (tl.program_id(0) // (down * across)).to(tl.int64), tl.program_id(0) % (down * across)
    tile_row, tile_column = tile // across, tile % across
    if DIAGONAL:
        tile_column = (tile_column + tile_row) % across
    row = tile_row.to(tl.int64) * SIDE + tl.arange(0, SIDE)
    column = tile_column.to(tl.int64) * SIDE + tl.arange(0, SIDE)
    source = x + matrix // inner * x0 + matrix % inner * x1 + row[:, None] * x_row + column[None, :] * x_column
    block = tl.load(source, mask=(row[:, None] < rows) & (column[None, :] < columns))
    target = out + matrix * rows * columns + column[:, None] * rows + row[None, :]
    tl.store(target, tl.trans(block), mask=(column[:, None] < columns) & (row[None, :] < rows))


def _launch_tiles(x: torch.Tensor, *, diagonal: bool, sides: Mapping[int, int], warps: int) -> torch.Tensor:
    out = torch.empty(x.mT.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        inner, rows, columns = inner_sizes(x.shape)
        side = sides[x.element_size()]
        matrices = out.numel() // (rows * columns)
        _tiles[(matrices * triton.cdiv(rows, side) * triton.cdiv(columns, side),)](
            x, out, inner, rows, columns, *strides(x.stride()), SIDE=side, DIAGONAL=diagonal, num_warps=warps
        )
    return out


@implementation("transpose", paradigm="triton")
def naive(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped: neighbouring lanes read a row, and write down a column."""
    out = torch.empty(x.mT.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        _one_by_one[(triton.cdiv(count, BLOCK),)](
            x, out, count, *inner_sizes(x.shape), *strides(x.stride()), *strides(out.mT.stride()), BLOCK=BLOCK
        )
    return out


@implementation("transpose", paradigm="triton", optimizes="naive", technique="tiles turned on the chip")
def tile(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped: a tile is read by rows, turned, and written by rows."""
    return _launch_tiles(x, diagonal=False, sides=SIDES, warps=4)


@implementation("transpose", paradigm="triton", optimizes="tile", technique="diagonal program order")
def diagonal(x: torch.Tensor) -> torch.Tensor:
    """Return the same; tiles of one column, whose rows lie a power of two apart, are not written at the same time."""
    return _launch_tiles(x, diagonal=True, sides=SIDES, warps=4)


@implementation("transpose", paradigm="triton", optimizes="tile", technique="larger tiles, more warps")
def large(x: torch.Tensor) -> torch.Tensor:
    """Return the same; a program reads and writes longer pieces of rows, and more of them at a time."""
    return _launch_tiles(x, diagonal=False, sides=LARGE_SIDES, warps=8)
