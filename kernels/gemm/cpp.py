"""gemm in portable C++: three loops, the same interchanged, and blocks that registers and caches hold."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _product(kernel: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call(kernel, a, b, out)
    return out


@implementation("gemm", paradigm="cpp")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, each element a sum over k."""
    return _product("naive", a, b)


@implementation("gemm", paradigm="cpp", optimizes="naive", technique="loop interchange")
def interchanged(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; the inner loop goes along rows, which vectorizes."""
    return _product("interchanged", a, b)


@implementation("gemm", paradigm="cpp", optimizes="interchanged", technique="register blocking")
def blocked(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; a block of the result stays in registers while packed panels of both operands go past."""
    return _product("blocked", a, b)
