"""max in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("max", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest elements of ``x`` along ``dim`` and their indices."""
    values, indices = torch.max(x, dim)
    return values.contiguous(), indices.contiguous()
