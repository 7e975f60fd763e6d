"""gelu_backward in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places, tanh, wide


@triton.jit
def _gelu_backward(
    grad, x, out, count, size1, size2, size3, d0, d1, d2, d3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, WIDE: tl.constexpr, TANH: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    slope = tl.load(grad + places(index, size1, size2, size3, d0, d1, d2, d3, CONTIGUOUS), mask=inside, other=0).to(
        WIDE
    )
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    if TANH:
        square = value * value
        share = tanh(0.7978845608028654 * (value + 0.044715 * square * value))
        rise = 0.5 * value * (1 - share * share) * (0.7978845608028654 * (1 + 3 * 0.044715 * square))
    else:
        share = tl.erf(value * 0.7071067811865476)
        rise = value * tl.exp(-0.5 * value * value) * 0.3989422804014327
    tl.store(out + index, slope * (0.5 * (1 + share) + rise), mask=inside)


def _launched(grad: torch.Tensor, x: torch.Tensor, *, approximate: str, fast: bool) -> torch.Tensor:
    out = torch.empty(grad.shape, dtype=grad.dtype, device=grad.device)
    launch_flat(_gelu_backward, (grad, x), (out,), fast=fast, WIDE=wide(x.dtype), TANH=approximate == "tanh")
    return out


@implementation("gelu_backward", paradigm="triton")
def flat(grad: torch.Tensor, x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return the gradient of gelu at ``x`` times ``grad``, contiguous."""
    return _launched(grad, x, approximate=approximate, fast=False)


@implementation("gelu_backward", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(grad: torch.Tensor, x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(grad, x, approximate=approximate, fast=True)
