"""transpose in CUDA C++: straight from memory to memory, or through tiles in shared memory."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


def _transposed(kernel: str, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.mT.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        SOURCE.call(kernel, x, out)
    return out


@implementation("transpose", paradigm="cuda")
def naive(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with its last two axes exchanged, contiguous; neighbouring threads write far from each other."""
    return _transposed("naive", x)


@implementation("transpose", paradigm="cuda", optimizes="naive", technique="tiles in shared memory")
def tiled(x: torch.Tensor) -> torch.Tensor:
    """Return the same; neighbouring threads read and write neighbours, and turn tiles in shared memory."""
    return _transposed("tiled", x)


@implementation("transpose", paradigm="cuda", optimizes="tiled", technique="padded tile")
def padded(x: torch.Tensor) -> torch.Tensor:
    """Return the same; rows of the tile are one element longer, so that its columns lie in different banks."""
    return _transposed("padded", x)
