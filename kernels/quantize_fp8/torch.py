"""quantize_fp8 in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.quantize_fp8 import FORMATS


@implementation("quantize_fp8", paradigm="torch")
def eager(x: torch.Tensor, scale: torch.Tensor, *, format: str) -> torch.Tensor:
    """Return ``x / scale`` in a float8 format, rounded and saturated, with a scale for each row."""
    dtype = getattr(torch, FORMATS[format])
    largest = torch.finfo(dtype).max
    return (x / scale[..., None]).clamp(-largest, largest).to(dtype).contiguous()
