"""exp compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.exp.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_exp = strictly_compiled(eager)


@implementation("exp", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return the exponential of ``x``, contiguous."""
    return _exp(x)
