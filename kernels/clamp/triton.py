"""clamp in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places


@triton.jit
def _clamp(
    x, out, count, size1, size2, size3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0)
    # Not a maximum and a minimum: hardware's drop a NaN, while comparisons with one are false and keep it.
    if LOW is not None:
        value = tl.where(value < LOW, LOW, value)
    if HIGH is not None:
        value = tl.where(value > HIGH, HIGH, value)
    tl.store(out + index, value, mask=inside)


def _launched(x: torch.Tensor, *, min: float | None, max: float | None, fast: bool) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_flat(_clamp, (x,), (out,), fast=fast, LOW=min, HIGH=max)
    return out


@implementation("clamp", paradigm="triton")
def flat(x: torch.Tensor, *, min: float | None, max: float | None) -> torch.Tensor:
    """Return ``x`` clamped into the range from ``min`` to ``max``, contiguous."""
    return _launched(x, min=min, max=max, fast=False)


@implementation("clamp", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, *, min: float | None, max: float | None) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, min=min, max=max, fast=True)
