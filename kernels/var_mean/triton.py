"""var_mean in Triton: a program takes one long row or several short ones, in blocks or kept in registers whole.

A row is everything along ``dim``, wherever that axis lies in memory.
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
    without,
)


@triton.jit
def _two_pass(
    x, var, mean, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    total = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        total += tl.sum(row_block(source, inside, start, length, step, 0, BLOCK, WIDE), 1, keep_dims=True)
    middle = total / length
    squares = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        # What lies beyond the row is 0 and not the mean: without this it would enter the variance.
        away = tl.where(column < length, row_block(source, inside, start, length, step, 0, BLOCK, WIDE) - middle, 0)
        squares += tl.sum(away * away, 1, keep_dims=True)
    tl.store(var + row, squares / (length - 1), mask=inside)
    tl.store(mean + row, middle, mask=inside)


@triton.jit
def _welford(
    x, var, mean, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    middle = tl.zeros((ROWS, 1), WIDE)
    squares = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        column, count = start + tl.arange(0, BLOCK)[None, :], tl.minimum(length - start, BLOCK)
        block = row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
        own = tl.sum(block, 1, keep_dims=True) / count
        away = tl.where(column < length, block - own, 0)
        # Chan, Golub and LeVeque's update: two means and sums of squares become those of all elements.
        apart, share = own - middle, count / (start + count).to(WIDE)
        middle += apart * share
        squares += tl.sum(away * away, 1, keep_dims=True) + apart * apart * share * start
    tl.store(var + row, squares / (length - 1), mask=inside)
    tl.store(mean + row, middle, mask=inside)


@triton.jit
def _one_block(
    x, var, mean, rows, length, size1, size2, size3, x0, x1, x2, x3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, 0, length, step, 0, BLOCK, WIDE)
    middle = tl.sum(block, 1, keep_dims=True) / length
    away = tl.where(tl.arange(0, BLOCK)[None, :] < length, block - middle, 0)
    tl.store(var + row, tl.sum(away * away, 1, keep_dims=True) / (length - 1), mask=inside)
    tl.store(mean + row, middle, mask=inside)


def _launch(kernel: Any, x: torch.Tensor, dim: int, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return variance and mean along ``dim`` by ``kernel``, which goes along the rows in blocks of ``block``."""
    outer, together = without(x.shape, dim), max(1, TILE // block)
    var, mean = (torch.empty(outer, dtype=x.dtype, device=x.device) for _ in range(2))
    if mean.numel():
        kernel[(triton.cdiv(mean.numel(), together),)](
            x, var, mean, mean.numel(), x.shape[dim], *inner_sizes(outer), *along(x, dim),
            ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
        )  # fmt: skip
    return var, mean


@implementation("var_mean", paradigm="triton")
def two_pass(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return variance and mean of ``x`` along ``dim``: a pass for the mean, and one for deviations from it."""
    return _launch(_two_pass, x, dim, covering(x.shape[dim]))


@implementation("var_mean", paradigm="triton", optimizes="two_pass", technique="blocks merged as Welford's update does")
def welford(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return variance and mean of ``x`` along ``dim``: one pass, in which each block's are merged with those before."""
    return _launch(_welford, x, dim, covering(x.shape[dim], 256))


@implementation("var_mean", paradigm="triton", optimizes="two_pass", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return variance and mean of ``x`` along ``dim``: rows of up to :data:`LONGEST_BLOCK` elements are read once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return two_pass(x, dim=dim)
    return _launch(_one_block, x, dim, covering(x.shape[dim], LONGEST_BLOCK))
