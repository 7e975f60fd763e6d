"""cross_entropy in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import wide


@implementation("cross_entropy", paradigm="torch")
def eager(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean loss; narrow types are computed in float32, since the CPU would keep each step in them."""
    return functional.cross_entropy(wide(logits), target).to(logits.dtype)
