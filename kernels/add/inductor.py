"""add compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.add.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_add = strictly_compiled(eager)


@implementation("add", paradigm="inductor")
def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous."""
    return _add(x, y)
