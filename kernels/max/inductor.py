"""max compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.max.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_max = strictly_compiled(eager)


@implementation("max", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest elements of ``x`` along ``dim`` and their indices."""
    return _max(x, dim=dim)
