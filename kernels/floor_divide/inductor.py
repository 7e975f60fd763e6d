"""floor_divide compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.floor_divide.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_floor_divide = strictly_compiled(eager)


@implementation("floor_divide", paradigm="inductor")
def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the quotient rounded down, contiguous."""
    return _floor_divide(x, y)
