"""gemm compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.gemm.torch import precision
from kernels.toolchains.inductor import strictly_compiled

_matmul = strictly_compiled(torch.matmul)


@implementation("gemm", paradigm="inductor")
def compiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``."""
    with precision("highest"):
        return _matmul(a, b)
