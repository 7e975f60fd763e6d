"""argmax in Triton, with what argmin and max share with it: the extreme elements of rows, and where they are.

A program takes one long row or several short ones, in blocks or kept in registers whole. A comparison with a NaN is
false, so NaN are kept out of it: the first of a row is looked for apart, and wins.
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
    without,
)


@triton.jit
def _extreme(block, LARGEST: tl.constexpr):
    """Return the largest element of each row of a block, or the smallest."""
    return tl.max(block, 1, keep_dims=True) if LARGEST else tl.min(block, 1, keep_dims=True)


@triton.jit
def _in_blocks(
    x, out, index, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    LEAST: tl.constexpr, LARGEST: tl.constexpr, VALUES: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    best = tl.full((ROWS, 1), LEAST, WIDE)
    where = tl.zeros((ROWS, 1), tl.int64) + length
    unordered = tl.zeros((ROWS, 1), tl.int64) + length
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, length, step, LEAST, BLOCK, WIDE)
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        is_nan = (block != block) & (column < length)
        block = tl.where(is_nan, LEAST, block)
        unordered = tl.minimum(unordered, tl.min(tl.where(is_nan, column, length), 1, keep_dims=True))
        extreme = _extreme(block, LARGEST)
        found = tl.min(tl.where((block == extreme) & (column < length), column, length), 1, keep_dims=True)
        better = ((extreme > best) if LARGEST else (extreme < best)) | (where == length)
        best = tl.where(better, extreme, best)
        where = tl.where(better, found, where)
    where = tl.where(unordered < length, unordered, where)
    tl.store(index + row, where, mask=inside)
    if VALUES:
        tl.store(out + row, tl.load(source + where * step, mask=inside, other=0), mask=inside)


@triton.jit
def _one_block(
    x, out, index, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    LEAST: tl.constexpr, LARGEST: tl.constexpr, VALUES: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, 0, length, step, LEAST, BLOCK, WIDE)
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    is_nan = (block != block) & (column < length)
    block = tl.where(is_nan, LEAST, block)
    # In a row with NaN all of these win, and nothing else does.
    chosen = tl.where(tl.max(is_nan.to(tl.int32), 1, keep_dims=True) > 0, is_nan, block == _extreme(block, LARGEST))
    where = tl.min(tl.where(chosen & (column < length), column, length), 1, keep_dims=True)
    tl.store(index + row, where, mask=inside)
    if VALUES:
        tl.store(out + row, tl.load(source + where * step, mask=inside, other=0), mask=inside)


def _least(dtype: torch.dtype, largest: bool) -> float | int:
    """Return what every element wins against, or is equal to."""
    if dtype.is_floating_point:
        return float("-inf") if largest else float("inf")
    return torch.iinfo(dtype).min if largest else torch.iinfo(dtype).max


def _launch(
    kernel: Any, x: torch.Tensor, dim: int, block: int, *, largest: bool, values: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    outer, length = without(x.shape, dim), x.shape[dim]
    index = torch.empty(outer, dtype=torch.int64, device=x.device)
    out = torch.empty(outer if values else 0, dtype=x.dtype, device=x.device)
    if index.numel():
        together = max(1, TILE // block)
        kernel[(triton.cdiv(index.numel(), together),)](
            x, out, index, index.numel(), length, *inner_sizes(outer), *along(x, dim),
            LEAST=_least(x.dtype, largest), LARGEST=largest, VALUES=values,
            ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
        )  # fmt: skip
    return out, index


def in_blocks(x: torch.Tensor, dim: int, *, largest: bool, values: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the extreme elements of ``x`` along ``dim``, if asked for, and their indices: block by block."""
    return _launch(_in_blocks, x, dim, covering(x.shape[dim]), largest=largest, values=values)


def in_registers(x: torch.Tensor, dim: int, *, largest: bool, values: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the same: rows of up to :data:`LONGEST_BLOCK` elements without a loop."""
    if x.shape[dim] > LONGEST_BLOCK:
        return in_blocks(x, dim, largest=largest, values=values)
    return _launch(_one_block, x, dim, covering(x.shape[dim], LONGEST_BLOCK), largest=largest, values=values)


@implementation("argmax", paradigm="triton")
def blocked(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the largest elements of ``x`` along ``dim``: each block against the best so far."""
    return in_blocks(x, dim, largest=True, values=False)[1]


@implementation("argmax", paradigm="triton", optimizes="blocked", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the largest elements of ``x`` along ``dim``: a row is held at once."""
    return in_registers(x, dim, largest=True, values=False)[1]
