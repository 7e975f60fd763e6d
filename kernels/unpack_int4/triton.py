"""unpack_int4 in Triton: a number at a time, or a byte at a time."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import BLOCK, inner_sizes, offsets, strides


@triton.jit
def _signed(half):
    return ((half ^ 8) - 8).to(tl.int8)


@triton.jit
def _flat(packed, out, count, size1, size2, size3, p0, p1, p2, p3, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    byte = tl.load(packed + offsets(index // 2, size1, size2, size3, p0, p1, p2, p3), mask=inside, other=0)
    half = (byte.to(tl.int32) >> (index % 2 * 4).to(tl.int32)) & 15
    tl.store(out + index, _signed(half), mask=inside)


@triton.jit
def _paired(packed, out, bytes, size1, size2, size3, p0, p1, p2, p3, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    index = first + tl.arange(0, BLOCK)
    place = offsets(index, size1, size2, size3, p0, p1, p2, p3)
    byte = tl.load(packed + place, mask=index < bytes, other=0).to(tl.int32)
    halves = tl.interleave(_signed(byte & 15), _signed(byte >> 4))
    number = 2 * first + tl.arange(0, 2 * BLOCK)
    tl.store(out + number, halves, mask=number < 2 * bytes)


def _unpacked(packed: torch.Tensor) -> torch.Tensor:
    return torch.empty((*packed.shape[:-1], 2 * packed.shape[-1]), dtype=torch.int8, device=packed.device)


@implementation("unpack_int4", paradigm="triton")
def flat(packed: torch.Tensor) -> torch.Tensor:
    """Return the signed halves of the bytes of ``packed`` as int8, the lower one first."""
    out = _unpacked(packed)
    if count := out.numel():
        sizes, steps = inner_sizes(packed.shape), strides(packed.stride())
        _flat[(triton.cdiv(count, BLOCK),)](packed, out, count, *sizes, *steps, BLOCK=BLOCK)
    return out


@implementation("unpack_int4", paradigm="triton", optimizes="flat", technique="both halves from one load")
def paired(packed: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, with every byte read once."""
    out = _unpacked(packed)
    if count := packed.numel():
        sizes, steps = inner_sizes(packed.shape), strides(packed.stride())
        _paired[(triton.cdiv(count, BLOCK),)](packed, out, count, *sizes, *steps, BLOCK=BLOCK)
    return out
