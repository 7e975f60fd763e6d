"""softcap compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.softcap.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_softcap = strictly_compiled(eager)


@implementation("softcap", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(x: torch.Tensor, *, cap: float) -> torch.Tensor:
    """Return ``cap * tanh(x / cap)``, contiguous."""
    return _softcap(x, cap=cap)
