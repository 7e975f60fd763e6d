"""layer_norm compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.layer_norm.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_layer_norm = strictly_compiled(eager)


@implementation("layer_norm", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis, contiguous."""
    return _layer_norm(x, weight, bias, eps=eps)
