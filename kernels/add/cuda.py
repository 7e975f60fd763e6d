"""add in CUDA C++: a thread for each element, or for as many as one memory transaction moves."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)

PACK = 16
"""Bytes that a thread can move at once, where they are aligned to as much."""


@implementation("add", paradigm="cuda")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; a broadcast axis is one of stride 0."""
    x, y = torch.broadcast_tensors(x, y)
    return _filled("flat", x, y)


@implementation("add", paradigm="cuda", optimizes="flat", technique="contiguous fast path")
def contiguous(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; without index arithmetic where both operands are as contiguous as the output."""
    return _filled("contiguous", x, y) if _alike(x, y) else flat(x, y)


@implementation("add", paradigm="cuda", optimizes="contiguous", technique="vector loads")
def vectorized(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; :data:`PACK` bytes at once where both operands are aligned to them."""
    if not _alike(x, y) or x.data_ptr() % PACK or y.data_ptr() % PACK:
        return contiguous(x, y)
    return _filled("vectorized", x, y)


def _alike(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.shape == y.shape and x.is_contiguous() and y.is_contiguous()


def _filled(kernel: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, x, y, out)
    return out
