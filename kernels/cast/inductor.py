"""cast compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.cast.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_cast = strictly_compiled(eager)


@implementation("cast", paradigm="inductor")
def compiled(x: torch.Tensor, *, dtype: str) -> torch.Tensor:
    """Return ``x`` in ``dtype``, contiguous."""
    return _cast(x, dtype=dtype)
