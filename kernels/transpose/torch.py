"""transpose in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("transpose", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes swapped, copied."""
    return torch.clone(x.mT, memory_format=torch.contiguous_format)
