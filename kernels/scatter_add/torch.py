"""scatter_add in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


@implementation("scatter_add", paradigm="torch")
def eager(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the rows of ``src`` added; in float32 for narrow types, which would round each addition."""
    return torch.index_add(_wide(x).contiguous(), 0, index, _wide(src)).to(x.dtype)
