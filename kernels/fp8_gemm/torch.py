"""fp8_gemm in plain PyTorch: as the contract says, in float32."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import precision


@implementation("fp8_gemm", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """Return the scaled product of ``a`` and ``b``, which are made float32 first."""
    with precision("highest"):
        product = torch.matmul(a.float(), b.float())
    return (product * scale_a[:, None] * scale_b).to(torch.bfloat16)
