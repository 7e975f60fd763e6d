"""histogram in Triton: a program takes a block of elements, in row-major order, and adds to bins in memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import TILE, inner_sizes, offsets, strides

MOST_BINS = 1024
"""Up to how many bins a program counts by itself: it holds them all."""


@triton.jit
def _one_by_one(
    index, out, bins, count, size1, size2, size3, index0, index1, index2, index3, BLOCK: tl.constexpr
):  # fmt: skip
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    source = index + offsets(element, size1, size2, size3, index0, index1, index2, index3)
    bin_ = tl.load(source, mask=element < count, other=-1).to(tl.int64)
    one = tl.full((BLOCK,), 1, tl.int64)
    tl.atomic_add(out + bin_, one, mask=(bin_ >= 0) & (bin_ < bins), sem="relaxed")


@triton.jit
def _counted_before(
    index, out, bins, count, size1, size2, size3, index0, index1, index2, index3,
    BLOCK: tl.constexpr, BINS: tl.constexpr,
):  # fmt: skip
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    source = index + offsets(element, size1, size2, size3, index0, index1, index2, index3)
    bin_ = tl.load(source, mask=element < count, other=-1).to(tl.int64)
    # What is in no bin goes into the last one, which none of the true ones is.
    own = tl.where((bin_ >= 0) & (bin_ < bins), bin_, BINS - 1).to(tl.int32)
    counts, column = tl.histogram(own, BINS).to(tl.int64), tl.arange(0, BINS)
    tl.atomic_add(out + column, counts, mask=(column < bins) & (counts > 0), sem="relaxed")


@implementation("histogram", paradigm="triton", technique="atomic additions, one an element")
def atomics(index: torch.Tensor, *, bins: int) -> torch.Tensor:
    """Return how often each of the numbers below ``bins`` is in ``index``: every element adds 1 in memory."""
    out = torch.zeros(bins, dtype=torch.int64, device=index.device)
    if index.numel():
        grid = (triton.cdiv(index.numel(), TILE),)
        _one_by_one[grid](
            index, out, bins, index.numel(), *inner_sizes(index.shape), *strides(index.stride()), BLOCK=TILE
        )
    return out


@implementation("histogram", paradigm="triton", optimizes="atomics", technique="bins counted by each program first")
def privatized(index: torch.Tensor, *, bins: int) -> torch.Tensor:
    """Return how often each of the numbers below ``bins`` is in ``index``: a program adds its counts, one a bin."""
    if bins >= MOST_BINS:
        return atomics(index, bins=bins)
    out = torch.zeros(bins, dtype=torch.int64, device=index.device)
    if index.numel():
        grid = (triton.cdiv(index.numel(), TILE),)
        _counted_before[grid](
            index, out, bins, index.numel(), *inner_sizes(index.shape), *strides(index.stride()),
            BLOCK=TILE, BINS=max(16, triton.next_power_of_2(bins + 1)),
        )  # fmt: skip
    return out
