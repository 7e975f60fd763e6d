"""shift_right in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("shift_right", paradigm="torch")
def eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x >> y``, contiguous."""
    return torch.bitwise_right_shift(x, y).contiguous()
