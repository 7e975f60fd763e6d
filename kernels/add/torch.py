"""add in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("add", paradigm="torch")
def eager(x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return ``x + y``: contiguous, or in ``out``."""
    return torch.add(x, y).contiguous() if out is None else torch.add(x, y, out=out)
