"""cumsum compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.cumsum.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_cumsum = strictly_compiled(eager)


@implementation("cumsum", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
    """Return the cumulative sums of ``x`` along ``dim``, contiguous."""
    return _cumsum(x, dim=dim, reverse=reverse)
