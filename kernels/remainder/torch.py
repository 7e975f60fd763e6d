"""remainder in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("remainder", paradigm="torch")
def eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the remainder of the sign of ``y``, contiguous."""
    # On a CPU a division by zero raises, and one of the smallest integer by -1 ends the process. By 1 as by -1 nothing
    # remains.
    return torch.remainder(x, torch.where((y == 0) | ((y < 0) & (y == -1)), 1, y)).contiguous()
