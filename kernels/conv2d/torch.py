"""conv2d in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import precision


@implementation("conv2d", paradigm="torch")
def eager(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the convolution of ``x`` with ``weight``."""
    with precision("highest"), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        return functional.conv2d(x, weight, stride=stride, padding=padding).contiguous()
