"""conv2d in plain PyTorch: float32 as it is, and with operands that may be rounded to tf32."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import precision


def _convolved(x: torch.Tensor, weight: torch.Tensor, stride: int, padding: int, *, tf32: bool) -> torch.Tensor:
    with precision("high" if tf32 else "highest"), torch.backends.cudnn.flags(enabled=True, allow_tf32=tf32):
        return functional.conv2d(x, weight, stride=stride, padding=padding).contiguous()


@implementation("conv2d", paradigm="torch")
def eager(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the convolution of ``x`` with ``weight``."""
    return _convolved(x, weight, stride, padding, tf32=False)


@implementation(
    "conv2d", paradigm="torch", optimizes="eager", technique="tf32 operands", numerics="tf32", dtypes=("float32",)
)
def tf32(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the same, with operands rounded to tf32 where the device has units for it."""
    return _convolved(x, weight, stride, padding, tf32=True)
