"""rms_norm_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.rms_norm_backward.torch import formula
from kernels.toolchains.inductor import strictly_compiled

_rms_norm_backward = strictly_compiled(formula)


@implementation("rms_norm_backward", paradigm="inductor")
def compiled(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``x`` and ``weight``."""
    return _rms_norm_backward(grad, x, weight, eps=eps)
