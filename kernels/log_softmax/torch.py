"""log_softmax in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import wide


@implementation("log_softmax", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the logarithm of the softmax of ``x`` along ``dim``, contiguous; narrow types are computed in float32."""
    return torch.log_softmax(wide(x), dim).to(x.dtype).contiguous()
