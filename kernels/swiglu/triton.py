"""swiglu in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places, wide


@triton.jit
def _swiglu(
    gate, up, out, count, size1, size2, size3, g0, g1, g2, g3, u0, u1, u2, u3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(gate + places(index, size1, size2, size3, g0, g1, g2, g3, CONTIGUOUS), mask=inside, other=0).to(
        WIDE
    )
    factor = tl.load(up + places(index, size1, size2, size3, u0, u1, u2, u3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    tl.store(out + index, value / (1 + tl.exp(-value)) * factor, mask=inside)


def _launched(gate: torch.Tensor, up: torch.Tensor, *, fast: bool) -> torch.Tensor:
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    launch_flat(_swiglu, (gate, up), (out,), fast=fast, WIDE=wide(gate.dtype))
    return out


@implementation("swiglu", paradigm="triton")
def flat(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return ``silu(gate) * up``, contiguous."""
    return _launched(gate, up, fast=False)


@implementation("swiglu", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(gate, up, fast=True)
