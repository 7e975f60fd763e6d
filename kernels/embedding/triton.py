"""embedding in Triton: element by element, each with its index, or rows whose index is read once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

BLOCK = 1024
"""Elements a program that copies them one by one; the most elements of a row that a program copies."""

TILE = 2048
"""Elements a program where rows are short: so many rows that it is worth a program."""


@triton.jit
def _flat(
    table, index, out, count, columns, size1, size2, size3, i0, i1, i2, i3, table_row, table_column,
    BLOCK: tl.constexpr,
):  # fmt: skip
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, column = element // columns, element % columns
    place = index + offsets(row, size1, size2, size3, i0, i1, i2, i3)
    named = tl.load(place, mask=element < count, other=0).to(tl.int64)
    value = tl.load(table + named * table_row + column * table_column, mask=element < count)
    tl.store(out + element, value, mask=element < count)


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


@implementation("embedding", paradigm="triton")
def flat(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the rows of ``table`` that ``index`` names, in blocks of elements in the order of the output."""
    columns = table.shape[1]
    out = torch.empty((*index.shape, columns), dtype=table.dtype, device=table.device)
    if count := out.numel():
        _flat[(triton.cdiv(count, BLOCK),)](
            table, index, out, count, columns, *inner_sizes(index.shape), *strides(index.stride()), *table.stride(),
            BLOCK=BLOCK,
        )  # fmt: skip
    return out


@implementation("embedding", paradigm="triton", optimizes="flat", technique="index read once a row")
def rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the same; a program copies a block of one long row, or several short rows."""
    count, columns = index.numel(), table.shape[1]
    out = torch.empty((*index.shape, columns), dtype=table.dtype, device=table.device)
    if out.numel():
        block = min(BLOCK, triton.next_power_of_2(columns))
        together = max(1, TILE // block)
        _rows[(triton.cdiv(count, together) * triton.cdiv(columns, block),)](
            table, index, out, count, columns, *inner_sizes(index.shape), *strides(index.stride()), *table.stride(),
            ROWS=together, BLOCK=block,
        )  # fmt: skip
    return out
