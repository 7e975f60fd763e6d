"""softcap in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("softcap", paradigm="torch", numerics="narrow")
def eager(x: torch.Tensor, *, cap: float) -> torch.Tensor:
    """Return ``cap * tanh(x / cap)``, contiguous."""
    return (torch.tanh(x / cap) * cap).contiguous()
