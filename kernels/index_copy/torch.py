"""index_copy in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("index_copy", paradigm="torch")
def eager(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the rows that ``index`` names replaced by those of ``src``."""
    return torch.index_copy(x.contiguous(), 0, index, src)
