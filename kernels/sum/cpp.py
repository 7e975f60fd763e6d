"""sum in portable C++: one element after another, in independent lanes, and in pairs."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _summed(kernel: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    rows = x.movedim(dim, -1)
    out = torch.empty(rows.shape[:-1], dtype=x.dtype, device=x.device)
    SOURCE.call(kernel, rows, out)
    return out


@implementation("sum", paradigm="cpp")
def sequential(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, each addition waiting for the one before it."""
    return _summed("sequential", x, dim)


@implementation("sum", paradigm="cpp", optimizes="sequential", technique="independent partial sums")
def lanes(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, from partial sums that a vector unit forms side by side."""
    return _summed("lanes", x, dim)


@implementation("sum", paradigm="cpp", optimizes="lanes", technique="pairwise summation")
def pairwise(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, from sums of blocks that are added in pairs: its error grows as log n."""
    return _summed("pairwise", x, dim)
