"""histogram in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("histogram", paradigm="torch")
def eager(index: torch.Tensor, *, bins: int) -> torch.Tensor:
    """Return how often each of the numbers below ``bins`` is in ``index``."""
    return torch.bincount(index[(index >= 0) & (index < bins)], minlength=bins)


@implementation("histogram", paradigm="torch")
def scattered(index: torch.Tensor, *, bins: int) -> torch.Tensor:
    """Return the same by adding ones to a bin each, and to one more for what is out of range."""
    bin_ = torch.where((index >= 0) & (index < bins), index, bins).reshape(-1).long()
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=index.device)
    return counts.index_add(0, bin_, torch.ones_like(bin_))[:bins].clone()
