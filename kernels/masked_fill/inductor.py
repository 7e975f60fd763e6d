"""masked_fill compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.masked_fill.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_masked_fill = strictly_compiled(eager)


@implementation("masked_fill", paradigm="inductor")
def compiled(x: torch.Tensor, mask: torch.Tensor, *, value: float) -> torch.Tensor:
    """Return ``value`` where ``mask`` is not 0, and ``x`` elsewhere, contiguous."""
    return _masked_fill(x, mask, value=value)
