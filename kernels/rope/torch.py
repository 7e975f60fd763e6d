"""rope in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import wide


@implementation("rope", paradigm="torch")
def eager(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the pairs of its first elements turned, computed in float32 for narrow types."""
    half = cos.shape[-1]
    first, second, rest = wide(x).split([half, half, x.shape[-1] - 2 * half], -1)
    cos, sin = wide(cos), wide(sin)
    return torch.cat([first * cos - second * sin, second * cos + first * sin, rest], -1).to(x.dtype)
