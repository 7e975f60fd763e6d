"""gemm in plain PyTorch: float32 as it is, and with operands that may be rounded to tf32."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import precision


@implementation("gemm", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``."""
    with precision("highest"):
        return torch.matmul(a, b)


@implementation(
    "gemm",
    paradigm="torch",
    optimizes="eager",
    technique="tf32 operands",
    numerics="tf32",
    dtypes=("float32",),
)
def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, with operands rounded to tf32 where the device has units for it."""
    with precision("high"):
        return torch.matmul(a, b)
