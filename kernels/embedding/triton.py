"""embedding in Triton: a program copies part of one row, or of several short ones."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

BLOCK = 1024
"""The most elements of a row that a program copies."""

TILE = 2048
"""Elements a program where rows are short: so many rows that it is worth a program."""


@triton.jit
def _rows(
    table, index, out, count, columns, size1, size2, size3, i0, i1, i2, i3, table_row, table_column,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copy a block of the columns of ``ROWS`` rows; the blocks of one row are programs next to each other."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    named = tl.load(index + offsets(row, size1, size2, size3, i0, i1, i2, i3), mask=row < count, other=0)
    inside = (row[:, None] < count) & (column[None, :] < columns)
    values = tl.load(table + named.to(tl.int64)[:, None] * table_row + column[None, :] * table_column, mask=inside)
    tl.store(out + row[:, None] * columns + column[None, :], values, mask=inside)


def _launch(table: torch.Tensor, index: torch.Tensor, together: int, block: int) -> torch.Tensor:
    """Return the rows that ``index`` names, copied by programs of ``together`` rows and ``block`` columns."""
    count, columns = index.numel(), table.shape[1]
    out = torch.empty((*index.shape, columns), dtype=table.dtype, device=table.device)
    if out.numel():
        _rows[(triton.cdiv(count, together) * triton.cdiv(columns, block),)](
            table, index, out, count, columns, *inner_sizes(index.shape), *strides(index.stride()), *table.stride(),
            ROWS=together, BLOCK=block,
        )  # fmt: skip
    return out


def _block(table: torch.Tensor) -> int:
    return min(BLOCK, triton.next_power_of_2(max(table.shape[1], 1)))


@implementation("embedding", paradigm="triton")
def row(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the rows of ``table`` that ``index`` names: a program for each, or for each block of a long one."""
    return _launch(table, index, 1, _block(table))


@implementation("embedding", paradigm="triton", optimizes="row", technique="several rows a program")
def rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the same; short rows are copied several at a time."""
    block = _block(table)
    return _launch(table, index, max(1, TILE // block), block)
