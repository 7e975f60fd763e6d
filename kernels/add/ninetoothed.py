"""add in NineToothed: blocks of elements in the order of the output."""

from __future__ import annotations

import functools
from typing import Any

import ninetoothed
import torch
from ninetoothed import Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import elementwise, near, parts, with_axes


def application(x, y, out):
    out = x + y


@functools.cache
def _kernel(ndim: int) -> Any:
    return ninetoothed.make(elementwise, application, tuple(Tensor(ndim) for _ in range(3)))


@implementation("add", paradigm="ninetoothed")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        for operands in parts(*(with_axes(tensor) for tensor in (near(x), near(y), out))):
            _kernel(operands[0].dim())(*operands)
    return out
