"""masked_fill in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places


@triton.jit
def _masked_fill(
    x, mask, out, count, size1, size2, size3, x0, x1, x2, x3, m0, m1, m2, m3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, VALUE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0)
    hidden = tl.load(mask + places(index, size1, size2, size3, m0, m1, m2, m3, CONTIGUOUS), mask=inside, other=0)
    tl.store(out + index, tl.where(hidden != 0, VALUE, value), mask=inside)


def _launched(x: torch.Tensor, mask: torch.Tensor, *, value: float, fast: bool) -> torch.Tensor:
    x, mask = torch.broadcast_tensors(x, mask)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_flat(_masked_fill, (x, mask), (out,), fast=fast, VALUE=value)
    return out


@implementation("masked_fill", paradigm="triton")
def flat(x: torch.Tensor, mask: torch.Tensor, *, value: float) -> torch.Tensor:
    """Return ``value`` where ``mask`` is not 0, and ``x`` elsewhere, contiguous."""
    return _launched(x, mask, value=value, fast=False)


@implementation("masked_fill", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, mask: torch.Tensor, *, value: float) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, mask, value=value, fast=True)
