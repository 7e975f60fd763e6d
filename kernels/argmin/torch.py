"""argmin in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("argmin", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the smallest elements of ``x`` along ``dim``."""
    return torch.argmin(x, dim).contiguous()
