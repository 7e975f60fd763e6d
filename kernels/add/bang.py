"""add in BANG C: tasks take pieces of rows in turn, and add them in NRAM."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.bang import DTYPES, BangSource

SOURCE = BangSource(__file__)


@implementation("add", paradigm="bang", dtypes=DTYPES)
def pieces(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call("pieces", *(tensor if out.dim() else tensor.view(1) for tensor in (x, y, out)))
    return out
