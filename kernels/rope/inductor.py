"""rope compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.rope.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_rope = strictly_compiled(eager)


@implementation("rope", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor")
def compiled(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the pairs of its first elements turned."""
    return _rope(x, cos, sin)
