"""cross_entropy_backward in Triton: a program takes one long row or several short ones of the logits.

Where a row holds a NaN, +inf, or nothing but -inf, its sum of exponentials is NaN; so all of it becomes NaN.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import LONGEST_BLOCK, TILE, covering, row_block, wide


@triton.jit
def _two_pass(
    grad, logits, target, out, rows, classes, row_step, step, target_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = logits + row * row_step, row < rows
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, classes, BLOCK):
        block = row_block(source, inside, start, classes, step, float("-inf"), BLOCK, WIDE)
        higher = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
        # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(block - shift), 1, keep_dims=True)
        peak = higher
    share = tl.load(grad).to(WIDE) / rows
    chosen = tl.load(target + row * target_step, mask=inside, other=0)
    for start in range(0, classes, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        y = tl.exp(row_block(source, inside, start, classes, step, float("-inf"), BLOCK, WIDE) - peak) / total
        result = (y - (column == chosen).to(WIDE)) * share
        tl.store(out + row * classes + column, result, mask=inside & (column < classes))


@triton.jit
def _one_block(
    grad, logits, target, out, rows, classes, row_step, step, target_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, column = row < rows, tl.arange(0, BLOCK).to(tl.int64)[None, :]
    block = row_block(logits + row * row_step, inside, 0, classes, step, float("-inf"), BLOCK, WIDE)
    power = tl.exp(block - tl.max(block, 1, keep_dims=True))
    y = power / tl.sum(power, 1, keep_dims=True)
    chosen = tl.load(target + row * target_step, mask=inside, other=0)
    result = (y - (column == chosen).to(WIDE)) * (tl.load(grad).to(WIDE) / rows)
    tl.store(out + row * classes + column, result, mask=inside & (column < classes))


def _launch(kernel: Any, grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor, block: int) -> torch.Tensor:
    """Return the gradient of the logits by ``kernel``, which goes along the rows in blocks of ``block``."""
    rows, classes = logits.shape
    out = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
    together = max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        grad, logits, target, out, rows, classes, *logits.stride(), target.stride(0),
        ROWS=together, BLOCK=block, WIDE=wide(logits.dtype),
    )  # fmt: skip
    return out


@implementation("cross_entropy_backward", paradigm="triton")
def two_pass(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``logits``: one pass over each row for its maximum and sum, and one to write."""
    return _launch(_two_pass, grad, logits, target, covering(logits.shape[1]))


@implementation("cross_entropy_backward", paradigm="triton", optimizes="two_pass", technique="row kept in registers")
def one_block(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``logits``: rows of up to :data:`LONGEST_BLOCK` classes are read once."""
    if logits.shape[1] > LONGEST_BLOCK:
        return two_pass(grad, logits, target)
    return _launch(_one_block, grad, logits, target, covering(logits.shape[1], LONGEST_BLOCK))
