"""sum in CUDA C++: a thread for each row, or a block whose threads share it."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


def _summed(kernel: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    rows = x.movedim(dim, -1)
    out = torch.empty(rows.shape[:-1], dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, rows, out)
    return out


@implementation("sum", paradigm="cuda")
def naive(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, a thread for each row."""
    return _summed("naive", x, dim)


@implementation("sum", paradigm="cuda", optimizes="naive", technique="tree in shared memory")
def shared_tree(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``; the sums of a block's threads are added in a tree in shared memory."""
    return _summed("shared_tree", x, dim)


@implementation("sum", paradigm="cuda", optimizes="shared_tree", technique="warp shuffles")
def warp_shuffles(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``; the sums of a warp's threads are added by shuffles."""
    return _summed("warp_shuffles", x, dim)
