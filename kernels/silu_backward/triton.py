"""silu_backward in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places, wide


@triton.jit
def _silu_backward(
    grad, x, out, count, size1, size2, size3, d0, d1, d2, d3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    slope = tl.load(grad + places(index, size1, size2, size3, d0, d1, d2, d3, CONTIGUOUS), mask=inside, other=0).to(
        WIDE
    )
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    share = 1 / (1 + tl.exp(-value))
    tl.store(out + index, slope * share * (1 + value * (1 - share)), mask=inside)


def _launched(grad: torch.Tensor, x: torch.Tensor, *, fast: bool) -> torch.Tensor:
    out = torch.empty(grad.shape, dtype=grad.dtype, device=grad.device)
    launch_flat(_silu_backward, (grad, x), (out,), fast=fast, WIDE=wide(x.dtype))
    return out


@implementation("silu_backward", paradigm="triton")
def flat(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of silu at ``x`` times ``grad``, contiguous."""
    return _launched(grad, x, fast=False)


@implementation("silu_backward", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(grad, x, fast=True)
