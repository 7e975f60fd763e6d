"""clamp compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.clamp.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_clamp = strictly_compiled(eager)


@implementation("clamp", paradigm="inductor")
def compiled(x: torch.Tensor, *, min: float | None, max: float | None) -> torch.Tensor:
    """Return ``x`` clamped into the range from ``min`` to ``max``, contiguous."""
    return _clamp(x, min=min, max=max)
