"""softmax in CUDA C++: a block for each row."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


def _normalized(kernel: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, x.movedim(dim, -1), out.movedim(dim, -1))
    return out


@implementation("softmax", paradigm="cuda")
def three_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``; maximum and sum are reduced by trees in shared memory."""
    return _normalized("three_pass", x, dim)


@implementation("softmax", paradigm="cuda", optimizes="three_pass", technique="warp shuffles")
def warp_shuffles(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``; maximum and sum are reduced by shuffles within warps."""
    return _normalized("warp_shuffles", x, dim)


@implementation("softmax", paradigm="cuda", optimizes="warp_shuffles", technique="online softmax")
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``; one pass for maximum and sum, rescaled where the maximum grows."""
    return _normalized("online", x, dim)
