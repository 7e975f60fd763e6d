"""cross_entropy_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.cross_entropy_backward.torch import formula
from kernels.toolchains.inductor import strictly_compiled

_cross_entropy_backward = strictly_compiled(formula)


@implementation("cross_entropy_backward", paradigm="inductor")
def compiled(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``logits``."""
    return _cross_entropy_backward(grad, logits, target)
