"""softmax_backward in Triton: a program takes a long row or several short ones, in blocks or whole.

A row is everything along ``dim``, wherever that axis lies in memory.
Where the sum of exponentials is NaN, as of a row of x that holds a NaN, +inf, or nothing but -inf, all becomes NaN.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import LONGEST_BLOCK, covering, launch_rows, offsets, row_block


@triton.jit
def _two_pass(
    grad, x, out, rows, length, size1, size2, size3, grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step,
    out0, out1, out2, out3, out_step, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, source = row < rows, x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
    target = out + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    total = tl.zeros((ROWS, 1), WIDE)
    inner = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, length, step, float("-inf"), BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE)
        higher = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
        # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        power, rescaled = tl.exp(block - shift), tl.exp(peak - shift)
        total = total * rescaled + tl.sum(power, 1, keep_dims=True)
        inner = inner * rescaled + tl.sum(dy * power, 1, keep_dims=True)
        peak = higher
    inner = inner / total
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        y = tl.exp(row_block(source, inside, start, length, step, float("-inf"), BLOCK, WIDE) - peak) / total
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE)
        tl.store(target + column * out_step, y * (dy - inner), mask=inside & (column < length))


@triton.jit
def _one_block(
    grad, x, out, rows, length, size1, size2, size3, grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step,
    out0, out1, out2, out3, out_step, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, source = row < rows, x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
    target = out + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    block = row_block(source, inside, 0, length, step, float("-inf"), BLOCK, WIDE)
    dy = row_block(given, inside, 0, length, grad_step, 0, BLOCK, WIDE)
    power = tl.exp(block - tl.max(block, 1, keep_dims=True))
    y = power / tl.sum(power, 1, keep_dims=True)
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    result = y * (dy - tl.sum(dy * y, 1, keep_dims=True))
    tl.store(target + column * out_step, result, mask=inside & (column < length))


@implementation("softmax_backward", paradigm="triton")
def two_pass(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x``: one pass for maximum and sums, rescaled where the maximum grows, one to write."""
    return launch_rows(_two_pass, grad, x, dim=dim, block=covering(x.shape[dim]))


@implementation("softmax_backward", paradigm="triton", optimizes="two_pass", technique="row kept in registers")
def one_block(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x``: rows of up to :data:`LONGEST_BLOCK` elements are read once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return two_pass(grad, x, dim=dim)
    return launch_rows(_one_block, grad, x, dim=dim, block=covering(x.shape[dim], LONGEST_BLOCK))
