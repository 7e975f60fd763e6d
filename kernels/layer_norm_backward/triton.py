"""layer_norm_backward in Triton: rows for the gradient of x, then columns for those of weight and bias.

A program takes one long row or several short ones, and keeps their mean and scale in memory. A second kernel goes down
a few columns over all rows.
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
    wide_in_torch,
)

# A number that is an argument reaches a kernel as float32, which is too little for float64: it must be a constant.

TALL, BROAD = 32, 32
"""Rows and columns that the second kernel holds at a time."""


@triton.jit
def _three_pass(
    grad, x, weight, out, means, scales, rows, length, size1, size2, size3,
    grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, source = row < rows, x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
    total, of_grad = tl.zeros((ROWS, 1), WIDE), tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        factor = row_block(weight, True, start, length, weight_step, 0, BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE) * factor
        total += tl.sum(row_block(source, inside, start, length, step, 0, BLOCK, WIDE), 1, keep_dims=True)
        of_grad += tl.sum(dy, 1, keep_dims=True)
    mean, mean_dy = total / length, of_grad / length
    squares, inner = tl.zeros((ROWS, 1), WIDE), tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        factor = row_block(weight, True, start, length, weight_step, 0, BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE) * factor
        column = start + tl.arange(0, BLOCK)[None, :]
        # What lies beyond the row is 0 and not the mean: without this it would enter the variance.
        away = tl.where(column < length, row_block(source, inside, start, length, step, 0, BLOCK, WIDE) - mean, 0)
        squares += tl.sum(away * away, 1, keep_dims=True)
        inner += tl.sum(dy * away, 1, keep_dims=True)
    scale = 1 / tl.sqrt(squares / length + EPS)
    along_n = inner * scale / length
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        factor = row_block(weight, True, start, length, weight_step, 0, BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE) * factor
        normal = (row_block(source, inside, start, length, step, 0, BLOCK, WIDE) - mean) * scale
        result = scale * (dy - mean_dy - normal * along_n)
        tl.store(out + row * length + column, result, mask=inside & (column < length))
    tl.store(means + row, mean, mask=inside)
    tl.store(scales + row, scale, mask=inside)


@triton.jit
def _one_block(
    grad, x, weight, out, means, scales, rows, length, size1, size2, size3,
    grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, column = row < rows, tl.arange(0, BLOCK).to(tl.int64)[None, :]
    source = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
    block = row_block(source, inside, 0, length, step, 0, BLOCK, WIDE)
    dy = row_block(given, inside, 0, length, grad_step, 0, BLOCK, WIDE)
    dy = dy * row_block(weight, True, 0, length, weight_step, 0, BLOCK, WIDE)
    mean = tl.sum(block, 1, keep_dims=True) / length
    away = tl.where(column < length, block - mean, 0)
    scale = 1 / tl.sqrt(tl.sum(away * away, 1, keep_dims=True) / length + EPS)
    normal = away * scale
    mean_dy = tl.sum(dy, 1, keep_dims=True) / length
    result = scale * (dy - mean_dy - normal * (tl.sum(dy * normal, 1, keep_dims=True) / length))
    tl.store(out + row * length + column, result, mask=inside & (column < length))
    tl.store(means + row, mean, mask=inside)
    tl.store(scales + row, scale, mask=inside)


@triton.jit
def _columns(
    grad, x, means, scales, of_weight, of_bias, rows, length, size1, size2, size3,
    grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * BLOCK
    column = first + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    scaled, plain = tl.zeros((ROWS, BLOCK), WIDE), tl.zeros((ROWS, BLOCK), WIDE)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS).to(tl.int64)[:, None]
        inside, source = row < rows, x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
        given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
        mean, scale = tl.load(means + row, mask=inside, other=0), tl.load(scales + row, mask=inside, other=0)
        dy = row_block(given, inside, first, length, grad_step, 0, BLOCK, WIDE)
        scaled += dy * ((row_block(source, inside, first, length, step, 0, BLOCK, WIDE) - mean) * scale)
        plain += dy
    tl.store(of_weight + column, tl.sum(scaled, 0, keep_dims=True), mask=column < length)
    tl.store(of_bias + column, tl.sum(plain, 0, keep_dims=True), mask=column < length)


def _launch(
    kernel: Any, grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float, block: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    of_weight, of_bias = (torch.empty(x.shape[-1:], dtype=x.dtype, device=x.device) for _ in range(2))
    rows, together, precise = out.numel() // x.shape[-1], max(1, TILE // block), wide(x.dtype)
    means, scales = (torch.empty(rows, dtype=wide_in_torch(x.dtype), device=x.device) for _ in range(2))
    shape, where = (rows, x.shape[-1], *inner_sizes(x.shape[:-1])), (*along(grad, -1), *along(x, -1))
    if rows:
        kernel[(triton.cdiv(rows, together),)](
            grad, x, weight, out, means, scales, *shape, *where, weight.stride(0),
            EPS=eps, ROWS=together, BLOCK=block, WIDE=precise,
        )  # fmt: skip
    _columns[(triton.cdiv(x.shape[-1], BROAD),)](
        grad, x, means, scales, of_weight, of_bias, *shape, *where, ROWS=TALL, BLOCK=BROAD, WIDE=precise
    )
    return out, of_weight, of_bias


@implementation("layer_norm_backward", paradigm="triton")
def three_pass(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients: of each row a pass for the means, one for the variance, one to write; then columns."""
    return _launch(_three_pass, grad, x, weight, eps, covering(x.shape[-1]))


@implementation("layer_norm_backward", paradigm="triton", optimizes="three_pass", technique="row kept in registers")
def one_block(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients: rows of up to :data:`LONGEST_BLOCK` elements are read once; then columns."""
    if x.shape[-1] > LONGEST_BLOCK:
        return three_pass(grad, x, weight, bias, eps=eps)
    return _launch(_one_block, grad, x, weight, eps, covering(x.shape[-1], LONGEST_BLOCK))
