"""relu in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("relu", paradigm="torch")
def eager(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the larger of ``x`` and 0: contiguous, or in ``out``."""
    return torch.relu(x).contiguous() if out is None else torch.clamp(x, min=0, out=out)
