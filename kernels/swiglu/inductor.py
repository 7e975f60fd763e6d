"""swiglu compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.swiglu.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_swiglu = strictly_compiled(eager)


@implementation("swiglu", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return ``silu(gate) * up``, contiguous."""
    return _swiglu(gate, up)
