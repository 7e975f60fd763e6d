"""gemm_bias in plain PyTorch: the fused call, and the product and the sum one after the other."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import precision, wide


@implementation("gemm_bias", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b + bias``, both in float32 for narrow types, which would round the product before the sum."""
    with precision("highest"):
        return (torch.matmul(wide(a), wide(b)) + wide(bias)).to(a.dtype)


@implementation("gemm_bias", paradigm="torch", optimizes="eager", technique="bias in the epilogue")
def addmm(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b + bias`` by one call, which adds the bias before it rounds."""
    with precision("highest"):
        return torch.addmm(bias, a, b)
