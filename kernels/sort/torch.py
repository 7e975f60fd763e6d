"""sort in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("sort", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the elements of ``x`` along ``dim`` in order, and where they were."""
    values, indices = torch.sort(x, dim, descending)
    return values.contiguous(), indices.contiguous()
