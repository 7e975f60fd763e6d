"""exp in Triton: blocks of elements in the order of the output, computed in float32 or wider."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import inner_sizes, offsets, strides, wide

BLOCK = 1024
"""Elements a program."""


@triton.jit
def _flat(
    x, out, count, size1, size2, size3, x0, x1, x2, x3, BLOCK: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + offsets(index, size1, size2, size3, x0, x1, x2, x3), mask=inside, other=0).to(WIDE)
    result = tl.exp(value)
    tl.store(out + index, result, mask=inside)


@implementation("exp", paradigm="triton")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the exponential of ``x``, contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        _flat[(triton.cdiv(count, BLOCK),)](
            x, out, count, *inner_sizes(x.shape), *strides(x.stride()), BLOCK=BLOCK, WIDE=wide(x.dtype)
        )
    return out
