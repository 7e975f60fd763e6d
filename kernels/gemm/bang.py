"""gemm in BANG C: tiles of the result, each by a task, from tiles of both operands in NRAM and WRAM."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.bang import DTYPES, BangSource

SOURCE = BangSource(__file__)


@implementation("gemm", paradigm="bang", dtypes=DTYPES)
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; clusters share the rows of the result, and the cores of one its columns."""
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call("tiled", a, b, out)
    return out
