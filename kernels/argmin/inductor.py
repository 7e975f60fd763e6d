"""argmin compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.argmin.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_argmin = strictly_compiled(eager)


@implementation("argmin", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the smallest elements of ``x`` along ``dim``."""
    return _argmin(x, dim=dim)
