"""linear_scan in Triton: a program takes several rows, and goes along them element by element or in blocks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import TILE, along, covering, inner_sizes, offsets, wide

SIDE_BY_SIDE = 64
"""Rows that a program goes along at a time, an element of each."""

LONGEST_SCAN = 256
"""Elements of a row that are scanned at once."""


@triton.jit
def _followed(a1, b1, a2, b2):
    """Return the step that does two one after the other."""
    return a1 * a2, a2 * b1 + b2


@triton.jit
def _one_by_one(
    a, b, out, rows, length, size1, size2, size3, a0, a1, a2, a3, a_step, b0, b1, b2, b3, b_step,
    ROWS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside, steps = row < rows, a + offsets(row, size1, size2, size3, a0, a1, a2, a3)
    terms, states = b + offsets(row, size1, size2, size3, b0, b1, b2, b3), out + row * length
    state = tl.zeros((ROWS,), WIDE)
    for _ in range(0, length):
        step = tl.load(steps, mask=inside, other=0).to(WIDE)
        state = step * state + tl.load(terms, mask=inside, other=0).to(WIDE)
        tl.store(states, state, mask=inside)
        steps, terms, states = steps + a_step, terms + b_step, states + 1


@triton.jit
def _in_blocks(
    a, b, out, rows, length, size1, size2, size3, a0, a1, a2, a3, a_step, b0, b1, b2, b3, b_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    steps = a + offsets(row, size1, size2, size3, a0, a1, a2, a3)
    terms = b + offsets(row, size1, size2, size3, b0, b1, b2, b3)
    state = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        own = tl.arange(0, BLOCK).to(tl.int64)[None, :]
        column = start + own
        here = (row < rows) & (column < length)
        # Beyond the row there are steps that change nothing, so that the last state is that of the row's end.
        step = tl.load(steps + column * a_step, mask=here, other=1).to(WIDE)
        term = tl.load(terms + column * b_step, mask=here, other=0).to(WIDE)
        # The state before enters with the first step; a product of all steps may overflow where no state does.
        term = tl.where(own == 0, step * state + term, term)
        _, states = tl.associative_scan((step, term), 1, _followed)
        tl.store(out + row * length + column, states, mask=here)
        state = tl.sum(tl.where(own == BLOCK - 1, states, 0), 1, keep_dims=True)


@implementation("linear_scan", paradigm="triton")
def sequential(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the states one after the other, of many rows side by side."""
    out = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    if out.numel():
        rows = out.numel() // b.shape[-1]
        together = covering(rows, SIDE_BY_SIDE)
        _one_by_one[(triton.cdiv(rows, together),)](
            a, b, out, rows, b.shape[-1], *inner_sizes(b.shape[:-1]), *along(a, -1), *along(b, -1),
            ROWS=together, WIDE=wide(b.dtype),
        )  # fmt: skip
    return out


@implementation("linear_scan", paradigm="triton", optimizes="sequential", technique="associative scan of blocks")
def associative(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the states of one block of a row after the other, each by a scan of pairs."""
    out = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    if out.numel():
        rows, block = out.numel() // b.shape[-1], covering(b.shape[-1], LONGEST_SCAN)
        together = covering(rows, TILE // block)
        _in_blocks[(triton.cdiv(rows, together),)](
            a, b, out, rows, b.shape[-1], *inner_sizes(b.shape[:-1]), *along(a, -1), *along(b, -1),
            ROWS=together, BLOCK=block, WIDE=wide(b.dtype),
        )  # fmt: skip
    return out
