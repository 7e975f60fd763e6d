"""round compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.round.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_round = strictly_compiled(eager)


@implementation("round", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return the whole numbers nearest to ``x``, contiguous."""
    return _round(x)
