"""rms_norm in portable C++: a pass over the row for its squares, and one to write."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _normalized(kernel: str, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call(kernel, x, weight, out, reals=(eps,))
    return out


@implementation("rms_norm", paradigm="cpp")
def two_pass(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis, the squares added up one after another."""
    return _normalized("two_pass", x, weight, eps)


@implementation("rms_norm", paradigm="cpp", optimizes="two_pass", technique="independent partial sums")
def lanes(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the same, from partial sums of squares that a vector unit forms side by side."""
    return _normalized("lanes", x, weight, eps)
