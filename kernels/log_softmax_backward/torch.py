"""log_softmax_backward in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import gradients, wide


@implementation("log_softmax_backward", paradigm="torch")
def eager(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x`` by PyTorch's own backward."""
    return gradients(lambda x: torch.log_softmax(x, dim), grad, x)[0]


@implementation("log_softmax_backward", paradigm="torch")
def formula(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x`` as the formula has it."""
    dy = wide(grad)
    return (dy - torch.softmax(wide(x), dim) * dy.sum(dim, keepdim=True)).to(x.dtype).contiguous()
