"""silu_backward in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("silu_backward", paradigm="torch")
def eager(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of silu at ``x`` times ``grad``, contiguous."""
    return torch.ops.aten.silu_backward(grad, x).contiguous()
