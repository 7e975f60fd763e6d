"""argmax compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.argmax.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_argmax = strictly_compiled(eager)


@implementation("argmax", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the largest elements of ``x`` along ``dim``."""
    return _argmax(x, dim=dim)
