"""softmax in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


# Along another axis than the last, PyTorch's own CPU kernel keeps the exponentials of narrow types in the narrow type.
@implementation("softmax", paradigm="torch", numerics="narrow")
def eager(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``, contiguous."""
    return torch.softmax(x, dim).contiguous()
