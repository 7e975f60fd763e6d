"""softmax in portable C++: three passes over a row, two of them, or its exponentials kept."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _normalized(kernel: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, x.movedim(dim, -1), out.movedim(dim, -1))
    return out


@implementation("softmax", paradigm="cpp")
def three_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a pass for the maximum, one for the sum, one to write."""
    return _normalized("three_pass", x, dim)


@implementation("softmax", paradigm="cpp", optimizes="three_pass", technique="online softmax")
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: one pass for maximum and sum, rescaled where the maximum grows."""
    return _normalized("online", x, dim)


@implementation("softmax", paradigm="cpp", optimizes="three_pass", technique="exponentials kept")
def stored(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: each exponential is computed once, and kept until it is divided."""
    return _normalized("stored", x, dim)
