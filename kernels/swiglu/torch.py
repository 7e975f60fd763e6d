"""swiglu in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation


@implementation("swiglu", paradigm="torch", numerics="narrow")
def eager(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return ``silu(gate) * up``, contiguous."""
    return (functional.silu(gate) * up).contiguous()
