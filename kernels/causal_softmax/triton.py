"""causal_softmax in Triton: a program takes one long row or several short ones, in blocks or kept in registers whole.

Where a row sees a NaN or +inf, or nothing but -inf, its sum of exponentials is NaN; so all that it sees becomes NaN.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import (
    LONGEST_BLOCK,
    ROW_SIZES,
    TILE,
    along,
    covering,
    inner_sizes,
    offsets,
    row_block,
    wide,
)


@triton.jit(do_not_specialize=ROW_SIZES)
def _masked(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside, seen = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows, row % length + 1
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE)
        peak = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE)
        total += tl.sum(tl.exp(block - peak), 1, keep_dims=True)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        power = tl.exp(row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE) - peak)
        share = tl.where(column < seen, power / total, 0)
        tl.store(out + row * length + column, share, mask=inside & (column < length))


@triton.jit(do_not_specialize=ROW_SIZES)
def _skipping(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside, seen = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows, row % length + 1
    # Beyond what the longest of these rows sees there is nothing to read.
    end = tl.max(seen)
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    for start in range(0, end, BLOCK):
        block = row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE)
        peak = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, end, BLOCK):
        block = row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE)
        total += tl.sum(tl.exp(block - peak), 1, keep_dims=True)
    for start in range(0, end, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        power = tl.exp(row_block(source, inside, start, seen, step, float("-inf"), BLOCK, WIDE) - peak)
        share = tl.where(column < seen, power / total, 0)
        tl.store(out + row * length + column, share, mask=inside & (column < length))
    nothing = tl.zeros((ROWS, BLOCK), WIDE)
    for start in range(tl.cdiv(end, BLOCK) * BLOCK, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        tl.store(out + row * length + column, nothing, mask=inside & (column < length))


@triton.jit(do_not_specialize=ROW_SIZES)
def _one_block(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside, seen = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows, row % length + 1
    block = row_block(source, inside, 0, seen, step, float("-inf"), BLOCK, WIDE)
    power = tl.exp(block - tl.max(block, 1, keep_dims=True))
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    share = tl.where(column < seen, power / tl.sum(power, 1, keep_dims=True), 0)
    tl.store(out + row * length + column, share, mask=inside & (column < length))


def _launch(kernel: Any, x: torch.Tensor, block: int) -> torch.Tensor:
    """Return the result by ``kernel``, which goes along the rows in blocks of ``block``."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    rows, together = out.numel() // x.shape[-1], max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        x, out, rows, x.shape[-1], *inner_sizes(x.shape[:-1]), *along(x, -1),
        ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


@implementation("causal_softmax", paradigm="triton", batch_invariant=True)
def three_pass(x: torch.Tensor) -> torch.Tensor:
    """Return the causal softmax: whole rows, masked, in a pass for the maximum, one for the sum and one to write."""
    return _launch(_masked, x, covering(x.shape[-1], 256))


@implementation(
    "causal_softmax",
    paradigm="triton",
    optimizes="three_pass",
    technique="causal skipping",
    batch_invariant=True,
)
def skipping(x: torch.Tensor) -> torch.Tensor:
    """Return the causal softmax: blocks that lie beyond the diagonal are not read, and written as zeros."""
    return _launch(_skipping, x, covering(x.shape[-1], 256))


@implementation(
    "causal_softmax", paradigm="triton", optimizes="three_pass", technique="row kept in registers", batch_invariant=True
)
def one_block(x: torch.Tensor) -> torch.Tensor:
    """Return the causal softmax: rows of up to :data:`LONGEST_BLOCK` elements are read once."""
    if x.shape[-1] > LONGEST_BLOCK:
        return three_pass(x)
    return _launch(_one_block, x, covering(x.shape[-1], LONGEST_BLOCK))
