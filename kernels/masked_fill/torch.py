"""masked_fill in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("masked_fill", paradigm="torch")
def eager(x: torch.Tensor, mask: torch.Tensor, *, value: float) -> torch.Tensor:
    """Return ``value`` where ``mask`` is not 0, and ``x`` elsewhere, contiguous."""
    return torch.masked_fill(x, mask != 0, value).contiguous()
