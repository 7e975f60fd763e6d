"""quantize_fp8 compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.quantize_fp8.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_quantize_fp8 = strictly_compiled(eager)


@implementation("quantize_fp8", paradigm="inductor")
def compiled(x: torch.Tensor, scale: torch.Tensor, *, format: str) -> torch.Tensor:
    """Return ``x / scale`` in a float8 format, rounded and saturated, contiguous."""
    return _quantize_fp8(x, scale, format=format)
