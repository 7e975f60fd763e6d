"""gelu compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.gelu.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_gelu = strictly_compiled(eager)


# The error function of PyTorch's vectors is good to about 5e-7 and no better near 0.
@implementation(
    "gelu", paradigm="inductor", optimizes="torch/eager", technique="fused by Inductor", numerics="fast-math"
)
def compiled(x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    """Return the gelu of ``x``, contiguous."""
    return _gelu(x, approximate=approximate)
