"""cumsum in Triton: a program takes one long row or several short ones, or a piece of a long row.

A row is everything along ``dim``, wherever that axis lies in memory. Sums from the end are those of a row that begins
at its last element and has a negative step.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import (
    LONGEST_BLOCK,
    TILE,
    along,
    covering,
    inner_sizes,
    offsets,
    row_block,
    wide,
    wide_in_torch,
    without,
)


@triton.jit
def _in_blocks(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step, first, out_first,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + first + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    target = out + out_first + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    before = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        tl.store(target + column * out_step, tl.cumsum(block, 1) + before, mask=inside & (column < length))
        before += tl.sum(block, 1, keep_dims=True)


@triton.jit
def _one_block(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step, first, out_first,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + first + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    target = out + out_first + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    block = row_block(source, inside, 0, length, step, 0, BLOCK, WIDE)
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    tl.store(target + column * out_step, tl.cumsum(block, 1), mask=inside & (column < length))


@triton.jit
def _piece_sums(
    x, sums, rows, length, size1, size2, size3, x0, x1, x2, x3, step, first, pieces,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    row, piece = (program // pieces) * ROWS + tl.arange(0, ROWS)[:, None], program % pieces
    source, inside = x + first + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, piece * BLOCK, length, step, 0, BLOCK, WIDE)
    tl.store(sums + row * pieces + piece, tl.sum(block, 1, keep_dims=True), mask=inside)


@triton.jit
def _piece(
    x, sums, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    first, out_first, pieces,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, SUMS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    row, piece = (program // pieces) * ROWS + tl.arange(0, ROWS)[:, None], program % pieces
    source, inside = x + first + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    target = out + out_first + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    before = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, piece, SUMS):
        before += tl.sum(row_block(sums + row * pieces, inside, start, piece, 1, 0, SUMS, WIDE), 1, keep_dims=True)
    block = row_block(source, inside, piece * BLOCK, length, step, 0, BLOCK, WIDE)
    column = piece * BLOCK + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    tl.store(target + column * out_step, tl.cumsum(block, 1) + before, mask=inside & (column < length))


def _directed(x: torch.Tensor, dim: int, reverse: bool) -> tuple[tuple[int, ...], int]:
    """Return strides and step of the rows of ``x`` in the direction of the sums, and how far off the first one is."""
    *steps, step = along(x, dim)
    return ((*steps, -step), (x.shape[dim] - 1) * step) if reverse else ((*steps, step), 0)


def _launch(kernel: Any, x: torch.Tensor, dim: int, reverse: bool, block: int) -> torch.Tensor:
    """Return the cumulative sums along ``dim`` by ``kernel``, which goes along the rows in blocks of ``block``."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    (steps, first), (out_steps, out_first) = _directed(x, dim, reverse), _directed(out, dim, reverse)
    rows, together = out.numel() // x.shape[dim], max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        x, out, rows, x.shape[dim], *inner_sizes(without(x.shape, dim)), *steps, *out_steps, first, out_first,
        ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


@implementation("cumsum", paradigm="triton")
def blocked(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
    """Return the cumulative sums of ``x`` along ``dim``: each block is scanned, on top of those before."""
    return _launch(_in_blocks, x, dim, reverse, covering(x.shape[dim]))


@implementation("cumsum", paradigm="triton", optimizes="blocked", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
    """Return the cumulative sums of ``x`` along ``dim``: a row that fits is held at once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return blocked(x, dim=dim, reverse=reverse)
    return _launch(_one_block, x, dim, reverse, covering(x.shape[dim], LONGEST_BLOCK))


@implementation("cumsum", paradigm="triton", optimizes="blocked", technique="reduce, then scan: pieces side by side")
def reduce_then_scan(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
    """Return the cumulative sums of ``x`` along ``dim``: pieces of rows are summed, then each is scanned by itself."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    (steps, first), (out_steps, out_first) = _directed(x, dim, reverse), _directed(out, dim, reverse)
    block = covering(x.shape[dim])
    rows, together, pieces = out.numel() // x.shape[dim], max(1, TILE // block), triton.cdiv(x.shape[dim], block)
    sums = torch.empty((rows, pieces), dtype=wide_in_torch(x.dtype), device=x.device)
    grid, shape = (triton.cdiv(rows, together) * pieces,), (rows, x.shape[dim], *inner_sizes(without(x.shape, dim)))
    fixed = {"ROWS": together, "BLOCK": block, "WIDE": wide(x.dtype)}
    _piece_sums[grid](x, sums, *shape, *steps, first, pieces, **fixed)
    _piece[grid](x, sums, out, *shape, *steps, *out_steps, first, out_first, pieces, SUMS=covering(pieces), **fixed)
    return out
