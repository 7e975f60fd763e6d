"""silu_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.silu_backward.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_silu_backward = strictly_compiled(eager)


@implementation("silu_backward", paradigm="inductor")
def compiled(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of silu at ``x`` times ``grad``, contiguous."""
    return _silu_backward(grad, x)
