"""causal_softmax in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("causal_softmax", paradigm="torch")
def eager(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row over its columns up to the diagonal, contiguous."""
    unseen = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    return torch.softmax(x.masked_fill(unseen, float("-inf")), -1).contiguous()
