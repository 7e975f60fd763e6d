"""sort compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.sort.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_sort = strictly_compiled(eager)


@implementation("sort", paradigm="inductor")
def compiled(x: torch.Tensor, *, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the elements of ``x`` along ``dim`` in order, and where they were."""
    return _sort(x, dim=dim, descending=descending)
