"""quantize_int8 compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.quantize_int8.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_quantize_int8 = strictly_compiled(eager)


@implementation("quantize_int8", paradigm="inductor")
def compiled(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return ``x / scale`` in int8, rounded and saturated, contiguous."""
    return _quantize_int8(x, scale)
