"""relu compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.relu.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_relu = strictly_compiled(eager)


@implementation("relu", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    return _relu(x)
