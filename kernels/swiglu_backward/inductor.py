"""swiglu_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.swiglu_backward.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_swiglu_backward = strictly_compiled(eager)


@implementation("swiglu_backward", paradigm="inductor")
def compiled(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``gate`` and of ``up``, contiguous."""
    return _swiglu_backward(grad, gate, up)
