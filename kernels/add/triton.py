"""add in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides

BLOCK = 1024
"""Elements a program."""


@triton.jit
def _flat(
    x, y, out, count, size1, size2, size3, x0, x1, x2, x3, y0, y1, y2, y3, BLOCK: tl.constexpr
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    left = tl.load(x + offsets(index, size1, size2, size3, x0, x1, x2, x3), mask=inside, other=0)
    right = tl.load(y + offsets(index, size1, size2, size3, y0, y1, y2, y3), mask=inside, other=0)
    tl.store(out + index, left + right, mask=inside)


@triton.jit
def _contiguous(x, y, out, count, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    left = tl.load(x + index, mask=inside, other=0)
    right = tl.load(y + index, mask=inside, other=0)
    tl.store(out + index, left + right, mask=inside)


@implementation("add", paradigm="triton")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        grid = (triton.cdiv(count, BLOCK),)
        _flat[grid](x, y, out, count, *inner_sizes(x.shape), *strides(x.stride()), *strides(y.stride()), BLOCK=BLOCK)
    return out


@implementation("add", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; without index arithmetic where both operands are as contiguous as the output."""
    if x.shape != y.shape or not (x.is_contiguous() and y.is_contiguous()):
        return flat(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        _contiguous[(triton.cdiv(count, BLOCK),)](x, y, out, count, BLOCK=BLOCK)
    return out
