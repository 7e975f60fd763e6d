"""rms_norm_backward in Triton: rows for the gradient of x, then columns for that of weight.

A program takes one long row or several short ones, and keeps their scale in memory. A second kernel goes down a few
columns over all rows, or over some of them, whose sums are then added up.
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
def _two_pass(
    grad, x, weight, out, scales, rows, length, size1, size2, size3,
    grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside, source = row < rows, x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
    squares, inner = tl.zeros((ROWS, 1), WIDE), tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        factor = row_block(weight, True, start, length, weight_step, 0, BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE) * factor
        block = row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
        squares += tl.sum(block * block, 1, keep_dims=True)
        inner += tl.sum(dy * block, 1, keep_dims=True)
    scale = 1 / tl.sqrt(squares / length + EPS)
    along_n = inner * scale / length
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
        factor = row_block(weight, True, start, length, weight_step, 0, BLOCK, WIDE)
        dy = row_block(given, inside, start, length, grad_step, 0, BLOCK, WIDE) * factor
        normal = row_block(source, inside, start, length, step, 0, BLOCK, WIDE) * scale
        tl.store(out + row * length + column, scale * (dy - normal * along_n), mask=inside & (column < length))
    tl.store(scales + row, scale, mask=inside)


@triton.jit
def _one_block(
    grad, x, weight, out, scales, rows, length, size1, size2, size3,
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
    scale = 1 / tl.sqrt(tl.sum(block * block, 1, keep_dims=True) / length + EPS)
    normal = block * scale
    result = scale * (dy - normal * (tl.sum(dy * normal, 1, keep_dims=True) / length))
    tl.store(out + row * length + column, result, mask=inside & (column < length))
    tl.store(scales + row, scale, mask=inside)


@triton.jit
def _columns(
    grad, x, scales, sums, rows, length, size1, size2, size3,
    grad0, grad1, grad2, grad3, grad_step, x0, x1, x2, x3, step, tall,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    first, group = tl.program_id(0).to(tl.int64) * BLOCK, tl.program_id(1).to(tl.int64)
    column = first + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    total = tl.zeros((ROWS, BLOCK), WIDE)
    for start in range(0, tall, ROWS):
        down = start + tl.arange(0, ROWS).to(tl.int64)[:, None]
        row = group * tall + down
        inside, source = (down < tall) & (row < rows), x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
        given = grad + offsets(row, size1, size2, size3, grad0, grad1, grad2, grad3)
        scale = tl.load(scales + row, mask=inside, other=0)
        normal = row_block(source, inside, first, length, step, 0, BLOCK, WIDE) * scale
        total += row_block(given, inside, first, length, grad_step, 0, BLOCK, WIDE) * normal
    tl.store(sums + group * length + column, tl.sum(total, 0, keep_dims=True), mask=column < length)


def _launch(
    kernel: Any, grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float, block: int, *, groups: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, together, precise = out.numel() // x.shape[-1], max(1, TILE // block), wide(x.dtype)
    scales = torch.empty(rows, dtype=wide_in_torch(x.dtype), device=x.device)
    sums = torch.empty((groups, x.shape[-1]), dtype=scales.dtype, device=x.device)
    shape, where = (rows, x.shape[-1], *inner_sizes(x.shape[:-1])), (*along(grad, -1), *along(x, -1))
    if rows:
        kernel[(triton.cdiv(rows, together),)](
            grad, x, weight, out, scales, *shape, *where, weight.stride(0),
            EPS=eps, ROWS=together, BLOCK=block, WIDE=precise,
        )  # fmt: skip
    _columns[(triton.cdiv(x.shape[-1], BROAD), groups)](
        grad, x, scales, sums, *shape, *where, triton.cdiv(rows, groups), ROWS=TALL, BLOCK=BROAD, WIDE=precise
    )
    return out, sums.sum(0).to(x.dtype)


@implementation("rms_norm_backward", paradigm="triton", helpers=("sum",))
def two_pass(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients: of each row a pass for the sums and one to write; then columns, each down all rows."""
    return _launch(_two_pass, grad, x, weight, eps, covering(x.shape[-1]))


@implementation(
    "rms_norm_backward", paradigm="triton", optimizes="two_pass", technique="row kept in registers", helpers=("sum",)
)
def one_block(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients: rows of up to :data:`LONGEST_BLOCK` elements are read once; then columns."""
    if x.shape[-1] > LONGEST_BLOCK:
        return two_pass(grad, x, weight, eps=eps)
    return _launch(_one_block, grad, x, weight, eps, covering(x.shape[-1], LONGEST_BLOCK))


@implementation(
    "rms_norm_backward",
    paradigm="triton",
    optimizes="two_pass",
    technique="columns summed in two stages",
    helpers=("sum",),
)
def two_stage(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients: columns are summed over up to 64 groups of rows side by side, and these sums added up."""
    groups = min(64, triton.cdiv(max(x.numel() // x.shape[-1], 1), TALL))
    return _launch(_two_pass, grad, x, weight, eps, covering(x.shape[-1]), groups=groups)
