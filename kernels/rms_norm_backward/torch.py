"""rms_norm_backward in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import gradients, wide


@implementation("rms_norm_backward", paradigm="torch")
def eager(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x`` and ``weight`` by PyTorch's own backward."""
    of_x, of_weight = gradients(lambda x, weight: functional.rms_norm(x, x.shape[-1:], weight, eps), grad, x, weight)
    return of_x, of_weight


@implementation("rms_norm_backward", paradigm="torch")
def formula(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x`` and ``weight`` as the formula has them."""
    precise, dy = wide(x), wide(grad)
    r = torch.rsqrt((precise * precise).mean(-1, keepdim=True) + eps)
    n, scaled = precise * r, dy * wide(weight)
    of_x = r * (scaled - n * (scaled * n).mean(-1, keepdim=True))
    of_weight = (dy * n).reshape(-1, x.shape[-1]).sum(0)
    return of_x.to(x.dtype).contiguous(), of_weight.to(x.dtype)
