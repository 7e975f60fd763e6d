"""silu compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.silu.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_silu = strictly_compiled(eager)


@implementation("silu", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return ``x * sigmoid(x)``, contiguous."""
    return _silu(x)
