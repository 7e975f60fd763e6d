"""softmax compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.softmax.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_softmax = strictly_compiled(eager)


@implementation("softmax", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``, contiguous."""
    return _softmax(x, dim=dim)
