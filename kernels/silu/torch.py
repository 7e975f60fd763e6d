"""silu in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation


@implementation("silu", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return ``x * sigmoid(x)``, contiguous."""
    return functional.silu(x).contiguous()
