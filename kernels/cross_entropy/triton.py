"""cross_entropy in Triton: a program for the losses of a long row or several short ones, and one for their mean."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide

TILE = 1024
"""Elements that a program holds at a time."""


@triton.jit
def _losses(
    logits, target, losses, rows, classes, row_step, step, target_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    first, inside = logits + row * row_step, row < rows
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, classes, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        block = tl.load(first + column * step, mask=inside & (column < classes), other=float("-inf")).to(WIDE)
        higher = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(block - shift), 1, keep_dims=True)
        peak = higher
    picked = tl.load(target + row * target_step, mask=inside, other=0)
    chosen = tl.load(first + picked * step, mask=inside, other=0).to(WIDE)
    # Where nothing but -inf was seen the total is 0 and its logarithm -inf: together they are NaN, as they should be.
    tl.store(losses + row, tl.log(total) + (peak - chosen), mask=inside)


@triton.jit
def _mean(losses, out, rows, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), losses.dtype.element_ty)
    for start in range(0, rows, BLOCK):
        index = start + tl.arange(0, BLOCK)
        total += tl.load(losses + index, mask=index < rows, other=0)
    tl.store(out + tl.arange(0, 1), tl.sum(total, 0, keep_dims=True) / rows)


@implementation("cross_entropy", paradigm="triton")
def online(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean loss: one pass over each row for its maximum and its sum of exponentials."""
    rows, classes = logits.shape
    precise = torch.float64 if logits.dtype == torch.float64 else torch.float32
    losses = torch.empty(rows, dtype=precise, device=logits.device)
    out = torch.empty((), dtype=logits.dtype, device=logits.device)
    block = min(TILE, triton.next_power_of_2(classes))
    together = TILE // block
    _losses[(triton.cdiv(rows, together),)](
        logits, target, losses, rows, classes, *logits.stride(), target.stride(0),
        ROWS=together, BLOCK=block, WIDE=wide(logits.dtype),
    )  # fmt: skip
    _mean[(1,)](losses, out, rows, BLOCK=min(TILE, triton.next_power_of_2(rows)))
    return out
