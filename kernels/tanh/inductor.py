"""tanh compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.tanh.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_tanh = strictly_compiled(eager)


@implementation("tanh", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return the hyperbolic tangent of ``x``, contiguous."""
    return _tanh(x)
