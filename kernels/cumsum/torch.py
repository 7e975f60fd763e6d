"""cumsum in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("cumsum", paradigm="torch")
def eager(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
    """Return the cumulative sums of ``x`` along ``dim``, contiguous; narrow types are added up in float32."""
    precise = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    terms = x.flip(dim) if reverse else x
    sums = torch.cumsum(terms, dim, dtype=precise).to(x.dtype)
    return (sums.flip(dim) if reverse else sums).contiguous()
