"""softmax_backward in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import gradients, wide


@implementation("softmax_backward", paradigm="torch")
def eager(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x`` by PyTorch's own backward."""
    return gradients(lambda x: torch.softmax(x, dim), grad, x)[0]


@implementation("softmax_backward", paradigm="torch")
def formula(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x`` as the formula has it."""
    y, dy = torch.softmax(wide(x), dim), wide(grad)
    return (y * (dy - (dy * y).sum(dim, keepdim=True))).to(x.dtype).contiguous()
