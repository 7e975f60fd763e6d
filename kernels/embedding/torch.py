"""embedding in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation


@implementation("embedding", paradigm="torch")
def eager(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the rows of ``table`` that ``index`` names."""
    return functional.embedding(index, table).contiguous()
