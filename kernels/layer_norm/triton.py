"""layer_norm in Triton: a program takes a long row or several short ones, in blocks or kept in registers whole."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import ROW_SIZES, inner_sizes, offsets, strides, wide

# A number that is an argument reaches a kernel as float32, which is too little for float64: it must be a constant.

TILE = 1024
"""Elements that a program holds at a time."""

LONGEST_BLOCK = 8192
"""The longest row that a program holds at once; the registers have no room for longer ones."""


@triton.jit
def _load(first, inside, start, length, step, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Return the block of each row that begins at ``start``, with 0 where there is none."""
    column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    return tl.load(first + column * step, mask=inside & (column < length), other=0).to(WIDE)


@triton.jit
def _write(
    target, inside, start, length, normal, weight, bias, weight_step, bias_step, BLOCK: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    """Write one block of normalized rows, scaled and shifted."""
    column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    scale = tl.load(weight + column * weight_step, mask=column < length, other=0).to(WIDE)
    shift = tl.load(bias + column * bias_step, mask=column < length, other=0).to(WIDE)
    tl.store(target + column, normal * scale + shift, mask=inside & (column < length))


@triton.jit(do_not_specialize=ROW_SIZES)
def _three_pass(
    x, weight, bias, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step, bias_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        total += tl.sum(_load(source, inside, start, length, step, BLOCK, WIDE), 1, keep_dims=True)
    mean = total / length
    squares = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        # What lies beyond the row is 0 and not the mean: without this it would enter the variance.
        away = tl.where(column < length, _load(source, inside, start, length, step, BLOCK, WIDE) - mean, 0)
        squares += tl.sum(away * away, 1, keep_dims=True)
    scale = 1 / tl.sqrt(squares / length + EPS)
    for start in range(0, length, BLOCK):
        normal = (_load(source, inside, start, length, step, BLOCK, WIDE) - mean) * scale
        _write(out + row * length, inside, start, length, normal, weight, bias, weight_step, bias_step, BLOCK, WIDE)


@triton.jit(do_not_specialize=ROW_SIZES)
def _one_block(
    x, weight, bias, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step, bias_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = row < rows
    block = _load(x + offsets(row, size1, size2, size3, x0, x1, x2, x3), inside, 0, length, step, BLOCK, WIDE)
    mean = tl.sum(block, 1, keep_dims=True) / length
    away = tl.where(tl.arange(0, BLOCK)[None, :] < length, block - mean, 0)
    scale = 1 / tl.sqrt(tl.sum(away * away, 1, keep_dims=True) / length + EPS)
    _write(out + row * length, inside, 0, length, away * scale, weight, bias, weight_step, bias_step, BLOCK, WIDE)


def _launch(
    kernel: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float, block: int
) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    *outer, length = x.shape
    *steps, step = x.stride()
    rows, together = out.numel() // length, max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        x, weight, bias, out, rows, length, *inner_sizes(outer), *strides(steps), step,
        weight.stride(0), bias.stride(0), EPS=eps, ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


@implementation("layer_norm", paradigm="triton", batch_invariant=True)
def three_pass(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a pass for the mean, one for the variance, one to write."""
    return _launch(_three_pass, x, weight, bias, eps, min(TILE, triton.next_power_of_2(x.shape[-1])))


@implementation(
    "layer_norm", paradigm="triton", optimizes="three_pass", technique="row kept in registers", batch_invariant=True
)
def one_block(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[-1] > LONGEST_BLOCK:
        return three_pass(x, weight, bias, eps=eps)
    return _launch(_one_block, x, weight, bias, eps, triton.next_power_of_2(x.shape[-1]))
