"""softmax in Triton: a program takes one long row or several short ones, and goes along them in blocks.

A row is everything along ``dim``, wherever that axis lies in memory. Where it holds a NaN or +inf, or nothing but
-inf, its sum of exponentials is NaN, whatever a maximum makes of a NaN; so all of it becomes NaN.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import LONGEST_BLOCK, covering, launch_rows, offsets, row_block


@triton.jit
def _write(source, target, inside, length, step, out_step, peak, total, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Write the softmax of each row, block by block, given its maximum and its sum of exponentials."""
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        share = tl.exp(row_block(source, inside, start, length, step, float("-inf"), BLOCK, WIDE) - peak) / total
        tl.store(target + column * out_step, share, mask=inside & (column < length))


@triton.jit
def _three_pass(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    target = out + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, row < rows, start, length, step, float("-inf"), BLOCK, WIDE)
        peak = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, row < rows, start, length, step, float("-inf"), BLOCK, WIDE)
        total += tl.sum(tl.exp(block - peak), 1, keep_dims=True)
    _write(source, target, row < rows, length, step, out_step, peak, total, BLOCK, WIDE)


@triton.jit
def _online(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    target = out + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    peak = tl.full((ROWS, 1), float("-inf"), WIDE)
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, row < rows, start, length, step, float("-inf"), BLOCK, WIDE)
        higher = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
        # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(block - shift), 1, keep_dims=True)
        peak = higher
    _write(source, target, row < rows, length, step, out_step, peak, total, BLOCK, WIDE)


@triton.jit
def _one_block(
    x, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, out0, out1, out2, out3, out_step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    target = out + offsets(row, size1, size2, size3, out0, out1, out2, out3)
    block = row_block(source, row < rows, 0, length, step, float("-inf"), BLOCK, WIDE)
    power = tl.exp(block - tl.max(block, 1, keep_dims=True))
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    share = power / tl.sum(power, 1, keep_dims=True)
    tl.store(target + column * out_step, share, mask=(row < rows) & (column < length))


@implementation("softmax", paradigm="triton")
def three_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a pass for the maximum, one for the sum, one to write."""
    return launch_rows(_three_pass, x, dim=dim, block=covering(x.shape[dim]))


@implementation("softmax", paradigm="triton", optimizes="three_pass", technique="online softmax")
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: one pass for maximum and sum, rescaled where the maximum grows."""
    return launch_rows(_online, x, dim=dim, block=covering(x.shape[dim]))


@implementation("softmax", paradigm="triton", optimizes="three_pass", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return three_pass(x, dim=dim)
    return launch_rows(_one_block, x, dim=dim, block=triton.next_power_of_2(x.shape[dim]))


@implementation("softmax", paradigm="triton", optimizes="one_block", technique="several rows a program")
def multi_row(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: programs hold :data:`LONGEST_BLOCK` elements, however short rows are.

    More loads are under way at a time, and where rows lie side by side neighbouring lanes read neighbours.
    """
    if x.shape[dim] > LONGEST_BLOCK:
        return three_pass(x, dim=dim)
    block = triton.next_power_of_2(x.shape[dim])
    return launch_rows(_one_block, x, dim=dim, block=block, elements=LONGEST_BLOCK)
