"""The kernel of :mod:`platforms.triton_trial`, in a file of its own because importing it needs Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0.0)
    if x.dtype.is_fp8():
        x = x.to(tl.float32)  # nobody adds numbers of one byte as they are
    tl.store(y_ptr + index, x + x, mask=inside)


def doubled(x: torch.Tensor) -> torch.Tensor:
    """Return ``x + x``, elementwise, for a vector of at most 16 elements."""
    y = torch.empty_like(x)
    _double[(1,)](x, y, x.numel(), BLOCK=16)
    return y
