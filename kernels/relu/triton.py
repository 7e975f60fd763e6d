"""relu in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

BLOCK = 1024
"""Elements a program."""


@triton.jit
def _rectified(value):
    # Not a maximum: hardware's drops a NaN, while the comparison with one is false and keeps it.
    return tl.where(value <= 0, tl.zeros_like(value), value)


@triton.jit
def _flat(
    x, out, count, size1, size2, size3, x0, x1, x2, x3, out0, out1, out2, out3, BLOCK: tl.constexpr
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + offsets(index, size1, size2, size3, x0, x1, x2, x3), mask=inside, other=0)
    place = offsets(index, size1, size2, size3, out0, out1, out2, out3)
    tl.store(out + place, _rectified(value), mask=inside)


@triton.jit
def _contiguous(x, out, count, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + index, mask=inside, other=0)
    tl.store(out + index, _rectified(value), mask=inside)


@implementation("relu", paradigm="triton")
def flat(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the larger of ``x`` and 0: contiguous, or in ``out``, which may be ``x``."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    if count := out.numel():
        grid = (triton.cdiv(count, BLOCK),)
        places = (*strides(x.stride()), *strides(out.stride()))
        _flat[grid](x, out, count, *inner_sizes(x.shape), *places, BLOCK=BLOCK)
    return out


@implementation("relu", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; without index arithmetic where ``x`` is contiguous."""
    if not x.is_contiguous():
        return flat(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        _contiguous[(triton.cdiv(count, BLOCK),)](x, out, count, BLOCK=BLOCK)
    return out
