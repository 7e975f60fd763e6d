"""gemm in CUDA C++: a thread for each element, tiles in shared memory, and blocks of the product in registers."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


def _product(kernel: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call(kernel, a, b, out)
    return out


@implementation("gemm", paradigm="cuda")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, a thread for each element."""
    return _product("naive", a, b)


@implementation("gemm", paradigm="cuda", optimizes="naive", technique="tiles in shared memory")
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; the threads of a block load tiles of both operands for each other."""
    return _product("tiled", a, b)


@implementation("gemm", paradigm="cuda", optimizes="tiled", technique="register blocking")
def register_blocked(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; each thread has several rows and columns, so that what it loads is used several times."""
    return _product("register_blocked", a, b)
