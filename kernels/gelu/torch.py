"""gelu in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation


# PyTorch's vectorized CPU kernel has an error function that is good to about 5e-7 and no better near 0.
@implementation("gelu", paradigm="torch", numerics="fast-math")
def eager(x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return the gelu of ``x``, contiguous."""
    return functional.gelu(x, approximate=approximate).contiguous()
