"""var_mean compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.var_mean.torch import eager

_var_mean = strictly_compiled(eager)


@implementation("var_mean", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the unbiased variance and the mean of ``x`` along ``dim``."""
    return _var_mean(x, dim=dim)
