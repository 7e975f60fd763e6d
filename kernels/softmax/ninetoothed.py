"""softmax in NineToothed: a program takes one long row or several short ones, in blocks or kept in registers whole.

Where a row holds a NaN or +inf, or nothing but -inf, its sum of exponentials is NaN, so all of it becomes NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import (
    LONGEST_BLOCK,
    TILE,
    blocks_of_rows,
    near,
    parts,
    power_of_2,
    whole_rows,
    wide,
    with_axes,
)


def online(x, out, dtype):
    peak = ntl.full((out.dtype.shape[0], 1), float("-inf"), dtype)
    total = ntl.zeros((out.dtype.shape[0], 1), dtype)
    for i in range(x.shape[0]):
        block = ntl.cast(x[i], dtype)
        higher = ntl.maximum(peak, ntl.max(block, 1, keep_dims=True))
        # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        shift = ntl.where(higher == float("-inf"), 0.0, higher)
        total = total * ntl.exp(peak - shift) + ntl.sum(ntl.exp(block - shift), 1, keep_dims=True)
        peak = higher
    for i in range(x.shape[0]):
        out[i] = ntl.exp(ntl.cast(x[i], dtype) - peak) / total


def one_block(x, out, dtype):
    row = ntl.cast(x, dtype)
    power = ntl.exp(row - ntl.max(row, 1, keep_dims=True))
    out = power / ntl.sum(power, 1, keep_dims=True)


@functools.cache
def _kernel(arrangement: Callable[..., Any], application: Callable[..., Any], ndim: int) -> Any:
    tensors = Tensor(ndim, other=float("-inf")), Tensor(ndim), Tensor(0, constexpr=True)
    return ninetoothed.make(arrangement, application, tensors)


def _launch(
    arrangement: Callable[..., Any], application: Callable[..., Any], x: torch.Tensor, dim: int, block: int
) -> torch.Tensor:
    along = near(x.movedim(dim, -1))
    out = torch.empty(along.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        for rows, results in parts(with_axes(along, 2), with_axes(out, 2)):
            kernel = _kernel(arrangement, application, rows.dim())
            kernel(rows, results, wide(x.dtype), ROWS=max(1, TILE // block), BLOCK=block)
    return out.movedim(-1, dim)


@implementation("softmax", paradigm="ninetoothed", name="online")
def _online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: one pass for maximum and sum, and one to write."""
    return _launch(blocks_of_rows, online, x, dim, min(TILE, power_of_2(x.shape[dim])))


@implementation(
    "softmax", paradigm="ninetoothed", name="one_block", optimizes="online", technique="row kept in registers"
)
def _one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[dim] > LONGEST_BLOCK:
        return _online(x, dim=dim)
    return _launch(whole_rows, one_block, x, dim, power_of_2(x.shape[dim]))
