"""tanh in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("tanh", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return ``tanh(x)``, contiguous."""
    return torch.tanh(x).contiguous()
