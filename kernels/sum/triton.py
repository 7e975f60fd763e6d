"""sum in Triton: a program takes one long row or several short ones, a piece of a long row, or a row whole.

A row is everything along ``dim``, wherever that axis lies in memory.
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
def _block_by_block(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        total += tl.sum(row_block(source, inside, start, length, step, 0, BLOCK, WIDE), 1, keep_dims=True)
    tl.store(out + row, total, mask=inside)


@triton.jit
def _lane_by_lane(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    lanes = tl.zeros((ROWS, BLOCK), WIDE)
    for start in range(0, length, BLOCK):
        lanes += row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
    tl.store(out + row, tl.sum(lanes, 1, keep_dims=True), mask=inside)


@triton.jit
def _one_block(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, 0, length, step, 0, BLOCK, WIDE)
    tl.store(out + row, tl.sum(block, 1, keep_dims=True), mask=inside)


@triton.jit
def _piece(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, pieces,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr, ATOMIC: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    row, piece = (program // pieces) * ROWS + tl.arange(0, ROWS)[:, None], program % pieces
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, piece * BLOCK, length, step, 0, BLOCK, WIDE)
    part = tl.sum(block, 1, keep_dims=True)
    if ATOMIC:
        tl.atomic_add(out + row, part, mask=inside, sem="relaxed")
    else:
        tl.store(out + row * pieces + piece, part, mask=inside)


def _launch(kernel: Any, x: torch.Tensor, dim: int, block: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim`` by ``kernel``, which goes along the rows in blocks of ``block``."""
    outer, length = without(x.shape, dim), x.shape[dim]
    out = torch.empty(outer, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    together = max(1, TILE // block)
    kernel[(triton.cdiv(out.numel(), together),)](
        x, out, out.numel(), length, *inner_sizes(outer), *along(x, dim),
        ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


def _in_pieces(x: torch.Tensor, dim: int, *, atomic: bool) -> torch.Tensor:
    """Return sums of ``x`` along ``dim`` in the dtype that they are computed in: all added up, or one a piece."""
    outer, length = without(x.shape, dim), x.shape[dim]
    block = covering(length)
    pieces, together = triton.cdiv(length, block), max(1, TILE // block)
    make = torch.zeros if atomic else torch.empty
    parts = make(outer if atomic else (*outer, pieces), dtype=wide_in_torch(x.dtype), device=x.device)
    if parts.numel() and pieces:
        rows = parts.numel() if atomic else parts.numel() // pieces
        _piece[(triton.cdiv(rows, together) * pieces,)](
            x, parts, rows, length, *inner_sizes(outer), *along(x, dim), pieces,
            ROWS=together, BLOCK=block, WIDE=wide(x.dtype), ATOMIC=atomic,
        )  # fmt: skip
    return parts


@implementation("sum", paradigm="triton")
def blocked(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: every block is summed and added to what there was."""
    return _launch(_block_by_block, x, dim, covering(x.shape[dim]))


@implementation("sum", paradigm="triton", optimizes="blocked", technique="independent partial sums")
def vectorized(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: every lane adds up its own elements, and the lanes are summed once."""
    return _launch(_lane_by_lane, x, dim, covering(x.shape[dim]))


@implementation("sum", paradigm="triton", optimizes="blocked", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: rows of up to :data:`LONGEST_BLOCK` elements without a loop."""
    if x.shape[dim] > LONGEST_BLOCK:
        return blocked(x, dim=dim)
    return _launch(_one_block, x, dim, covering(x.shape[dim], LONGEST_BLOCK))


@implementation("sum", paradigm="triton", optimizes="vectorized", technique="long rows split among programs")
def two_stage(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: a program for each piece of a row, then one that adds them up."""
    return vectorized(_in_pieces(x, dim, atomic=False), dim=-1).to(x.dtype)


@implementation(
    "sum",
    paradigm="triton",
    optimizes="two_stage",
    technique="atomic additions, in no fixed order",
    numerics="flushed",
    deterministic=False,
)
def atomics(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: the pieces of a row are added up in memory, so the order is open."""
    return _in_pieces(x, dim, atomic=True).to(x.dtype)
