"""add in portable C++: a loop over the elements in the order of the output."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


@implementation("add", paradigm="cpp")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call("flat", x, y, out)
    return out


@implementation("add", paradigm="cpp", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a loop that vectorizes where both operands are as contiguous as the output."""
    if x.shape != y.shape or not (x.is_contiguous() and y.is_contiguous()):
        return flat(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call("contiguous", x, y, out)
    return out
