"""relu in CUDA C++: a thread for each element, or for as many as one memory transaction moves."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)

PACK = 16
"""Bytes that a thread can move at once, where they are aligned to as much."""


@implementation("relu", paradigm="cuda")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    return _filled("flat", x)


@implementation("relu", paradigm="cuda", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; without index arithmetic where ``x`` is contiguous."""
    return _filled("contiguous", x) if x.is_contiguous() else flat(x)


@implementation("relu", paradigm="cuda", optimizes="contiguous", technique="vector loads")
def vectorized(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; :data:`PACK` bytes at once where ``x`` is aligned to them."""
    aligned = x.is_contiguous() and x.data_ptr() % PACK == 0
    return _filled("vectorized", x) if aligned else contiguous(x)


def _filled(kernel: str, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, x, out)
    return out
