"""relu in portable C++: a loop over the elements in the order of the output."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


@implementation("relu", paradigm="cpp")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call("flat", x, out)
    return out


@implementation("relu", paradigm="cpp", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; a loop that vectorizes where ``x`` is contiguous."""
    if not x.is_contiguous():
        return flat(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call("contiguous", x, out)
    return out
