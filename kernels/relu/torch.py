"""relu in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("relu", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    return torch.relu(x).contiguous()
