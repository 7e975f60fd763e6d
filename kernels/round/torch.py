"""round in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("round", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return the whole numbers nearest to ``x``, contiguous."""
    return torch.round(x).contiguous()
