"""conv2d compiled by Inductor."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision


def _convolved(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    return functional.conv2d(x, weight, stride=stride, padding=padding).contiguous()


_compiled = strictly_compiled(_convolved)


@implementation("conv2d", paradigm="inductor")
def compiled(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the convolution of ``x`` with ``weight``."""
    with precision("highest"), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        return _compiled(x, weight, stride=stride, padding=padding)
