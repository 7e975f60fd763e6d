"""cast in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("cast", paradigm="torch")
def eager(x: torch.Tensor, *, dtype: str) -> torch.Tensor:
    """Return ``x`` in ``dtype``, contiguous and always new."""
    return x.to(getattr(torch, dtype), copy=True, memory_format=torch.contiguous_format)
