"""exp in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("exp", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(x)``, contiguous."""
    return torch.exp(x).contiguous()
