"""relu in NineToothed: blocks of elements in the order of the output."""

from __future__ import annotations

import functools
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import elementwise, near, parts, with_axes


def application(x, out):
    # Not a maximum: hardware's drops a NaN, while the comparison with one is false and keeps it.
    out = ntl.where(x <= 0, ntl.zeros_like(x), x)


@functools.cache
def _kernel(ndim: int) -> Any:
    return ninetoothed.make(elementwise, application, (Tensor(ndim), Tensor(ndim)))


@implementation("relu", paradigm="ninetoothed")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        for source, target in parts(with_axes(near(x)), with_axes(out)):
            _kernel(source.dim())(source, target)
    return out
