"""softcap in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places, tanh, wide


@triton.jit
def _softcap(
    x, out, count, size1, size2, size3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, CAP: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0).to(WIDE)
    tl.store(out + index, CAP * tanh(value / CAP), mask=inside)


def _launched(x: torch.Tensor, *, cap: float, fast: bool) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_flat(_softcap, (x,), (out,), fast=fast, CAP=cap, WIDE=wide(x.dtype))
    return out


@implementation("softcap", paradigm="triton")
def flat(x: torch.Tensor, *, cap: float) -> torch.Tensor:
    """Return ``cap * tanh(x / cap)``, contiguous."""
    return _launched(x, cap=cap, fast=False)


@implementation("softcap", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, *, cap: float) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, cap=cap, fast=True)
