"""var_mean in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("var_mean", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the unbiased variance and the mean of ``x`` along ``dim``."""
    variance, mean = torch.var_mean(x, dim)
    return variance.contiguous(), mean.contiguous()
