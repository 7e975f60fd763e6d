"""floor_divide in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("floor_divide", paradigm="torch")
def eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the quotient rounded down, contiguous."""
    # On a CPU a division by zero raises, and one of the smallest integer by -1 ends the process.
    negates = (y < 0) & (y == -1)
    quotient = torch.floor_divide(x, torch.where((y == 0) | negates, 1, y))
    return torch.where(negates, -x, quotient).contiguous()
