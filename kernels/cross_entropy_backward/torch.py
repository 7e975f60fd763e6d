"""cross_entropy_backward in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import gradients, wide


@implementation("cross_entropy_backward", paradigm="torch")
def eager(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``logits`` by PyTorch's own backward."""
    return gradients(lambda logits: functional.cross_entropy(logits, target), grad, logits)[0]


@implementation("cross_entropy_backward", paradigm="torch")
def formula(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``logits`` as the formula has it."""
    y = torch.softmax(wide(logits), -1)
    chosen = torch.arange(logits.shape[1], device=logits.device) == target[:, None]
    return ((y - chosen.to(y.dtype)) * (wide(grad) / logits.shape[0])).to(logits.dtype).contiguous()
