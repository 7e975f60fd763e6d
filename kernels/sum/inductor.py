"""sum compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.sum.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_sum = strictly_compiled(eager)


@implementation("sum", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``."""
    return _sum(x, dim=dim)
