"""remainder compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.remainder.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_remainder = strictly_compiled(eager)


@implementation("remainder", paradigm="inductor")
def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the remainder of the sign of ``y``, contiguous."""
    return _remainder(x, y)
