"""topk in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("topk", paradigm="torch")
def eager(x: torch.Tensor, *, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``k`` largest elements of each row of ``x`` and their indices."""
    values, indices = torch.topk(x, k)
    return values.contiguous(), indices.contiguous()
