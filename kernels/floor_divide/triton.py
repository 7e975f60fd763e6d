"""floor_divide in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places


@triton.jit
def _floor_divide(
    x, y, out, count, size1, size2, size3, x0, x1, x2, x3, y0, y1, y2, y3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0)
    divisor = tl.load(y + places(index, size1, size2, size3, y0, y1, y2, y3, CONTIGUOUS), mask=inside, other=0)
    divisor = tl.where(inside & (divisor != 0), divisor, 1)
    # Rounded toward zero, as hardware does it: one too much where the rest has the other sign than the divisor.
    quotient = value // divisor
    rest = value - quotient * divisor
    tl.store(out + index, quotient - ((rest != 0) & ((rest < 0) != (divisor < 0))).to(quotient.dtype), mask=inside)


def _launched(x: torch.Tensor, y: torch.Tensor, *, fast: bool) -> torch.Tensor:
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_flat(_floor_divide, (x, y), (out,), fast=fast)
    return out


@implementation("floor_divide", paradigm="triton")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the quotient rounded down, contiguous."""
    return _launched(x, y, fast=False)


@implementation("floor_divide", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, y, fast=True)
