"""softmax in Triton: a program takes one long row or several short ones, and goes along them in blocks.

A row is everything along ``dim``, wherever that axis lies in memory. Where it holds a NaN or +inf, or nothing but
-inf, its sum of exponentials is NaN, whatever a maximum makes of a NaN; so all of it becomes NaN.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

TILE = 1024
"""Elements that a program holds at a time."""

LONGEST_BLOCK = 8192
"""The longest row that a program holds at once; the registers have no room for longer ones."""


@triton.jit
def _load(first, inside, start, length, step, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Return the block of each row that begins at ``start``, with -inf, which adds nothing, where there is no row."""
    column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    return tl.load(first + column * step, mask=inside & (column < length), other=float("-inf")).to(WIDE)


@triton.jit
def _write(source, target, inside, length, step, out_step, peak, total, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Write the softmax of each row, block by block, given its maximum and its sum of exponentials."""
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        share = tl.exp(_load(source, inside, start, length, step, BLOCK, WIDE) - peak) / total
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
        block = _load(source, row < rows, start, length, step, BLOCK, WIDE)
        peak = tl.maximum(peak, tl.max(block, 1, keep_dims=True))
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = _load(source, row < rows, start, length, step, BLOCK, WIDE)
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
        block = _load(source, row < rows, start, length, step, BLOCK, WIDE)
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
    block = _load(source, row < rows, 0, length, step, BLOCK, WIDE)
    power = tl.exp(block - tl.max(block, 1, keep_dims=True))
    column = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    share = power / tl.sum(power, 1, keep_dims=True)
    tl.store(target + column * out_step, share, mask=(row < rows) & (column < length))


def _launch(kernel: Any, x: torch.Tensor, dim: int, block: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim`` by ``kernel``, which goes along the rows in blocks of ``block``."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    source, target = x.movedim(dim, -1), out.movedim(dim, -1)
    *outer, length = source.shape
    *steps, step = source.stride()
    *out_steps, out_step = target.stride()
    rows, together = out.numel() // length, max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        x, out, rows, length, *inner_sizes(outer), *strides(steps), step, *strides(out_steps), out_step,
        ROWS=together, BLOCK=block, WIDE=tl.float64 if x.dtype == torch.float64 else tl.float32,
    )  # fmt: skip
    return out


@implementation("softmax", paradigm="triton")
def three_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a pass for the maximum, one for the sum, one to write."""
    return _launch(_three_pass, x, dim, min(TILE, triton.next_power_of_2(x.shape[dim])))


@implementation("softmax", paradigm="triton", optimizes="three_pass", technique="online softmax")
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: one pass for maximum and sum, rescaled where the maximum grows."""
    return _launch(_online, x, dim, min(TILE, triton.next_power_of_2(x.shape[dim])))


@implementation("softmax", paradigm="triton", optimizes="three_pass", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return three_pass(x, dim=dim)
    return _launch(_one_block, x, dim, triton.next_power_of_2(x.shape[dim]))
