"""cast in Triton: blocks of elements in the order of the output."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import launch_flat, places


@triton.jit
def _cast(
    x, out, count, size1, size2, size3, x0, x1, x2, x3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr, THROUGH_FLOAT32: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0.0)
    if THROUGH_FLOAT32:
        value = value.to(tl.float32)
    tl.store(out + index, value.to(out.dtype.element_ty), mask=inside)


def _launched(x: torch.Tensor, *, dtype: str, fast: bool) -> torch.Tensor:
    # Float8 numbers convert to and from floats alone.
    one_byte = any(name.startswith("float8") for name in (dtype, str(x.dtype).removeprefix("torch.")))
    out = torch.empty(x.shape, dtype=getattr(torch, dtype), device=x.device)
    launch_flat(_cast, (x,), (out,), fast=fast, THROUGH_FLOAT32=one_byte)
    return out


@implementation("cast", paradigm="triton")
def flat(x: torch.Tensor, *, dtype: str) -> torch.Tensor:
    """Return ``x`` in ``dtype``, contiguous."""
    return _launched(x, dtype=dtype, fast=False)


@implementation("cast", paradigm="triton", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, *, dtype: str) -> torch.Tensor:
    """Return what :func:`flat` does, without index arithmetic where no operand needs any."""
    return _launched(x, dtype=dtype, fast=True)
