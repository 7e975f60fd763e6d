"""gemm_bias compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_addmm = strictly_compiled(torch.addmm)


@implementation("gemm_bias", paradigm="inductor")
def compiled(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b + bias``."""
    with precision("highest"):
        return _addmm(bias, a, b)
