"""clamp in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("clamp", paradigm="torch")
def eager(x: torch.Tensor, *, min: float | None, max: float | None) -> torch.Tensor:
    """Return ``x`` clamped into the range from ``min`` to ``max``, contiguous."""
    return torch.clamp(x, min=min, max=max).contiguous()
