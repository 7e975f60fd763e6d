"""layer_norm_backward in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import gradients, wide


@implementation("layer_norm_backward", paradigm="torch")
def eager(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x``, ``weight`` and ``bias`` by PyTorch's own backward."""

    def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, x.shape[-1:], weight, bias, eps)

    of_x, of_weight, of_bias = gradients(layer_norm, grad, x, weight, bias)
    return of_x, of_weight, of_bias


@implementation("layer_norm_backward", paradigm="torch")
def formula(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x``, ``weight`` and ``bias`` as the formula has them."""
    precise, dy = wide(x), wide(grad)
    away = precise - precise.mean(-1, keepdim=True)
    r = torch.rsqrt((away * away).mean(-1, keepdim=True) + eps)
    n, scaled = away * r, dy * wide(weight)
    of_x = r * (scaled - scaled.mean(-1, keepdim=True) - n * (scaled * n).mean(-1, keepdim=True))
    of_weight, of_bias = ((rows.reshape(-1, x.shape[-1])).sum(0) for rows in (dy * n, dy))
    return of_x.to(x.dtype).contiguous(), of_weight.to(x.dtype), of_bias.to(x.dtype)
