"""index_copy in Triton: a copy and then the named rows over it, or every row from where it comes from at once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation

BLOCK = 1024
"""The most elements of a row that a program copies."""

TILE = 2048
"""Elements a program where rows are short."""

ORIGINS = 1024
"""Indices a program where it is noted which rows are replaced."""


@triton.jit
def _over(
    src, index, out, count, columns, src_row, src_column, step, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Write a block of the columns of ``ROWS`` rows of ``src`` to the rows of ``out`` that they replace."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < count) & (column[None, :] < columns)
    values = tl.load(src + row[:, None] * src_row + column[None, :] * src_column, mask=inside)
    target = tl.load(index + row * step, mask=row < count, other=0)
    tl.store(out + target[:, None] * columns + column[None, :], values, mask=inside)


@triton.jit
def _note(index, origin, count, step, BLOCK: tl.constexpr):
    """Note in ``origin`` for each named row which row of ``src`` replaces it."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    target = tl.load(index + place * step, mask=place < count, other=0)
    tl.store(origin + target, place, mask=place < count)


@triton.jit
def _merged(
    x, src, origin, out, rows, columns, x_row, x_column, src_row, src_column, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Write a block of the columns of ``ROWS`` rows, each from ``src`` if it has an origin there, else from ``x``."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    come = tl.load(origin + row, mask=row < rows, other=-1)[:, None]
    kept = tl.load(x + row[:, None] * x_row + column[None, :] * x_column, mask=inside & (come < 0), other=0)
    replaced = tl.load(src + come * src_row + column[None, :] * src_column, mask=inside & (come >= 0), other=0)
    tl.store(out + row[:, None] * columns + column[None, :], tl.where(come < 0, kept, replaced), mask=inside)


def _tile(columns: int) -> tuple[int, int]:
    """Return the rows and columns of what a program copies."""
    block = min(BLOCK, triton.next_power_of_2(columns))
    return max(1, TILE // block), block


@implementation("index_copy", paradigm="triton")
def copy_then_write(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the rows that ``index`` names replaced by those of ``src``: all copied, then written over."""
    out = torch.clone(x, memory_format=torch.contiguous_format)
    if src.numel():
        (count, columns), (together, block) = src.shape, _tile(src.shape[1])
        _over[(triton.cdiv(count, together) * triton.cdiv(columns, block),)](
            src, index, out, count, columns, *src.stride(), index.stride(0), ROWS=together, BLOCK=block
        )
    return out


@implementation("index_copy", paradigm="triton", optimizes="copy_then_write", technique="each row written once")
def merged(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return the same; where each row comes from is noted first, so that none is read or written for nothing."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    (rows, columns), (together, block) = x.shape, _tile(x.shape[1])
    origin = torch.full((rows,), -1, dtype=torch.int64, device=x.device)
    if count := index.numel():
        _note[(triton.cdiv(count, ORIGINS),)](index, origin, count, index.stride(0), BLOCK=ORIGINS)
    _merged[(triton.cdiv(rows, together) * triton.cdiv(columns, block),)](
        x, src, origin, out, rows, columns, *x.stride(), *src.stride(), ROWS=together, BLOCK=block
    )
    return out
