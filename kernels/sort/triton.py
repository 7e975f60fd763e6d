"""sort in Triton, with what topk shares with it: the first elements of rows in order, and where they were.

``ranked`` counts, for each element, those that come before it; so it takes any dtype and rows of any length.
``packed`` sorts rows that a program holds at once: an element, as an integer in the same order, and its index make one
64-bit integer, so that a sort of numbers alone says both.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import TILE, along, covering, inner_sizes, offsets, row_block, wide, without

RANKED, AGAINST = 64, 128
"""How many elements of a row a program ranks, and against how many at a time; of short rows it takes several."""

LONGEST_SORTED = 2048
"""The longest row that is sorted at once."""


@triton.jit
def _rank(
    x, out, index, rows, length, kept, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    pieces,
    DESCENDING: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, OTHERS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    row, piece = (program // pieces) * ROWS + tl.arange(0, ROWS)[:, None, None], program % pieces
    source = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    own = piece * BLOCK + tl.arange(0, BLOCK).to(tl.int64)[None, :, None]
    element = tl.load(source + own * step, mask=(row < rows) & (own < length), other=0)
    a, rank = element.to(WIDE), tl.zeros((ROWS, BLOCK, 1), tl.int32)
    for start in range(0, length, OTHERS):
        column = start + tl.arange(0, OTHERS).to(tl.int64)[None, None, :]
        there = (row < rows) & (column < length)
        b = tl.load(source + column * step, mask=there, other=0).to(WIDE)
        # A NaN, which is not equal to itself, is larger than everything else.
        larger = (b > a) | ((b != b) & (a == a))
        smaller = (b < a) | ((b == b) & (a != a))
        before = (larger if DESCENDING else smaller) | ((larger == smaller) & (column < own))
        rank += tl.sum((before & there).to(tl.int32), 2, keep_dims=True)
    target = offsets(row, size1, size2, size3, out0, out1, out2, out3) + rank.to(tl.int64) * out_step
    here = (row < rows) & (own < length) & (rank < kept)
    tl.store(out + target, element, mask=here)
    tl.store(index + target, own, mask=here)


@triton.jit
def _packed(
    x, out, index, rows, length, kept, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    DESCENDING: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    block = row_block(source, inside, 0, length, step, 0, BLOCK, tl.float32)
    bits = tl.where(block != block, 0x7FC00000, block.to(tl.int32, bitcast=True))
    # Negative numbers are in the opposite order of their bits.
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    # Of equal elements the first comes first, either way; beyond the row there is what comes last.
    if DESCENDING:
        keys = tl.where(column < length, order * BLOCK + (BLOCK - 1 - column), -0x4000000000000000)
    else:
        keys = tl.where(column < length, order * BLOCK + column, 0x4000000000000000)
    low = tl.sort(keys, 1, DESCENDING) & (BLOCK - 1)
    where = (BLOCK - 1 - low) if DESCENDING else low
    target = offsets(row, size1, size2, size3, out0, out1, out2, out3) + column * out_step
    here = inside & (column < kept)
    tl.store(out + target, tl.load(source + where * step, mask=here, other=0), mask=here)
    tl.store(index + target, where, mask=here)


def _results(x: torch.Tensor, dim: int, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
    shape = list(x.shape)
    shape[dim] = kept
    return torch.empty(shape, dtype=x.dtype, device=x.device), torch.empty(shape, dtype=torch.int64, device=x.device)


def ranked(x: torch.Tensor, dim: int, kept: int, *, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first ``kept`` elements of ``x`` along ``dim`` in order, and their indices: each element is ranked."""
    out, index = _results(x, dim, kept)
    if out.numel():
        length = x.shape[dim]
        block, others, rows = covering(length, RANKED), covering(length, AGAINST), out.numel() // kept
        pieces, together = triton.cdiv(length, block), RANKED * AGAINST // (block * others)
        together = covering(rows, together)
        _rank[(triton.cdiv(rows, together) * pieces,)](
            x, out, index, rows, length, kept, *inner_sizes(without(x.shape, dim)), *along(x, dim), *along(out, dim),
            pieces, DESCENDING=descending, ROWS=together, BLOCK=block, OTHERS=others, WIDE=wide(x.dtype),
        )  # fmt: skip
    return out, index


def packed(x: torch.Tensor, dim: int, kept: int, *, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the same: rows of up to :data:`LONGEST_SORTED` elements of up to 32 bits are sorted at once."""
    if x.shape[dim] > LONGEST_SORTED:
        return ranked(x, dim, kept, descending=descending)
    out, index = _results(x, dim, kept)
    if out.numel():
        block, rows = max(2, covering(x.shape[dim], LONGEST_SORTED)), out.numel() // kept
        together = max(1, TILE // block)
        _packed[(triton.cdiv(rows, together),)](
            x, out, index, rows, x.shape[dim], kept, *inner_sizes(without(x.shape, dim)),
            *along(x, dim), *along(out, dim), DESCENDING=descending, ROWS=together, BLOCK=block,
        )  # fmt: skip
    return out, index


@implementation("sort", paradigm="triton")
def rank(x: torch.Tensor, *, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the elements of ``x`` along ``dim`` in order, and where they were, by counting what comes before each."""
    return ranked(x, dim, x.shape[dim], descending=descending)


@implementation(
    "sort", paradigm="triton", optimizes="rank", technique="bitonic sort of element and index in one integer",
    dtypes=("float32", "float16", "bfloat16"),
)  # fmt: skip
def bitonic(x: torch.Tensor, *, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the elements of ``x`` along ``dim`` in order, and where they were: rows that fit are sorted at once."""
    return packed(x, dim, x.shape[dim], descending=descending)
