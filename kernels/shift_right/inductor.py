"""shift_right compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.shift_right.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_shift_right = strictly_compiled(eager)


@implementation("shift_right", paradigm="inductor")
def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x >> y``, contiguous."""
    return _shift_right(x, y)
