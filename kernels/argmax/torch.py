"""argmax in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("argmax", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the largest elements of ``x`` along ``dim``."""
    return torch.argmax(x, dim).contiguous()
