"""add in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("add", paradigm="torch")
def eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous."""
    return torch.add(x, y).contiguous()
