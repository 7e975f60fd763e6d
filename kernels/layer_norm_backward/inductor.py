"""layer_norm_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.layer_norm_backward.torch import formula
from kernels.toolchains.inductor import strictly_compiled

_layer_norm_backward = strictly_compiled(formula)


@implementation("layer_norm_backward", paradigm="inductor")
def compiled(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x``, ``weight`` and ``bias``."""
    return _layer_norm_backward(grad, x, weight, bias, eps=eps)
