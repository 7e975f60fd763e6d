"""gelu_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.gelu_backward.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_gelu_backward = strictly_compiled(eager)


# The error function of PyTorch's vectors is good to about 5e-7 and no better near 0.
@implementation("gelu_backward", paradigm="inductor", numerics="fast-math")
def compiled(grad: torch.Tensor, x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return the gradient of gelu at ``x`` times ``grad``, contiguous."""
    return _gelu_backward(grad, x, approximate=approximate)
