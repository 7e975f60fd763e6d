"""rms_norm in NineToothed: a program takes a long row or several short ones, in blocks or kept in registers whole."""

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

# A number that is an argument reaches a kernel as float32, which is too little for float64: it must be a constant.


def two_pass(x, weight, out, eps, dtype):
    squares = ntl.zeros(x.dtype.shape, dtype)
    for i in range(x.shape[0]):
        block = ntl.cast(x[i], dtype)
        squares += block * block
    mean = ntl.sum(squares, 1, keep_dims=True) / x.source.shape[-1]
    scale = 1 / ntl.sqrt(mean + eps)
    for i in range(x.shape[0]):
        out[i] = ntl.cast(x[i], dtype) * scale * ntl.cast(weight[i], dtype)


def one_block(x, weight, out, eps, dtype):
    row = ntl.cast(x, dtype)
    mean = ntl.sum(row * row, 1, keep_dims=True) / x.source.shape[-1]
    out = row * (1 / ntl.sqrt(mean + eps)) * ntl.cast(weight, dtype)


@functools.cache
def _kernel(arrangement: Callable[..., Any], application: Callable[..., Any], ndim: int) -> Any:
    constants = Tensor(0, constexpr=True), Tensor(0, constexpr=True)
    tensors = Tensor(ndim, other=0), Tensor(ndim, other=0), Tensor(ndim), *constants
    return ninetoothed.make(arrangement, application, tensors)


def _launch(
    arrangement: Callable[..., Any],
    application: Callable[..., Any],
    x: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
    block: int,
) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        operands = near(x), near(weight).expand(x.shape), out
        for source, scale, target in parts(*(with_axes(tensor, 2) for tensor in operands)):
            kernel = _kernel(arrangement, application, source.dim())
            kernel(source, scale, target, eps, wide(x.dtype), ROWS=max(1, TILE // block), BLOCK=block)
    return out


@implementation("rms_norm", paradigm="ninetoothed", name="two_pass")
def _two_pass(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a pass for the squares, and one to write."""
    return _launch(blocks_of_rows, two_pass, x, weight, eps, min(TILE, power_of_2(x.shape[-1])))


@implementation(
    "rms_norm", paradigm="ninetoothed", name="one_block", optimizes="two_pass", technique="row kept in registers"
)
def _one_block(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[-1] > LONGEST_BLOCK:
        return _two_pass(x, weight, eps=eps)
    return _launch(whole_rows, one_block, x, weight, eps, power_of_2(x.shape[-1]))
