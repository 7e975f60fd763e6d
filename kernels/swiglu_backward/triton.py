"""swiglu_backward in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places, wide


@triton.jit
def _swiglu_backward(
    grad, gate, up, of_gate, of_up, count, size1, size2, size3, d0, d1, d2, d3, g0, g1, g2, g3, u0, u1, u2, u3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    slope = tl.load(grad + places(index, size1, size2, size3, d0, d1, d2, d3, CONTIGUOUS), mask=inside, other=0).to(
        WIDE
    )
    value = tl.load(gate + places(index, size1, size2, size3, g0, g1, g2, g3, CONTIGUOUS), mask=inside, other=0).to(
        WIDE
    )
    factor = tl.load(up + places(index, size1, size2, size3, u0, u1, u2, u3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    share = 1 / (1 + tl.exp(-value))
    tl.store(of_gate + index, slope * factor * share * (1 + value * (1 - share)), mask=inside)
    tl.store(of_up + index, slope * value * share, mask=inside)


def _launched(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, *, fast: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    of_gate, of_up = (torch.empty(grad.shape, dtype=grad.dtype, device=grad.device) for _ in range(2))
    launch_flat(_swiglu_backward, (grad, gate, up), (of_gate, of_up), fast=fast, WIDE=wide(gate.dtype))
    return of_gate, of_up


@implementation("swiglu_backward", paradigm="triton")
def flat(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``gate`` and of ``up``, contiguous."""
    return _launched(grad, gate, up, fast=False)


@implementation("swiglu_backward", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(grad, gate, up, fast=True)
