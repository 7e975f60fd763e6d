"""gelu_backward in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


# PyTorch's vectorized CPU kernel has an error function that is good to about 5e-7 and no better near 0.
@implementation("gelu_backward", paradigm="torch", numerics="fast-math")
def eager(grad: torch.Tensor, x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return the gradient of gelu at ``x`` times ``grad``, contiguous."""
    return torch.ops.aten.gelu_backward(grad, x, approximate=approximate).contiguous()
