"""round in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, nearest_integer, places, wide


@triton.jit
def _round(
    x, out, count, size1, size2, size3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    tl.store(out + index, nearest_integer(value), mask=inside)


def _launched(x: torch.Tensor, *, fast: bool) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_flat(_round, (x,), (out,), fast=fast, WIDE=wide(x.dtype))
    return out


@implementation("round", paradigm="triton")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the whole numbers nearest to ``x``, contiguous."""
    return _launched(x, fast=False)


@implementation("round", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, fast=True)
