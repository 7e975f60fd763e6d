"""log_softmax_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.log_softmax_backward.torch import formula
from kernels.toolchains.inductor import strictly_compiled

_log_softmax_backward = strictly_compiled(formula)


@implementation("log_softmax_backward", paradigm="inductor")
def compiled(grad: torch.Tensor, x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the gradient of ``x``."""
    return _log_softmax_backward(grad, x, dim=dim)
