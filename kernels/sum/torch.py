"""sum in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("sum", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``."""
    return torch.sum(x, dim).contiguous()
