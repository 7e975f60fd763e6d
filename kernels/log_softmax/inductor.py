"""log_softmax compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.log_softmax.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_log_softmax = strictly_compiled(eager)


@implementation("log_softmax", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the logarithm of the softmax of ``x`` along ``dim``, contiguous."""
    return _log_softmax(x, dim=dim)
