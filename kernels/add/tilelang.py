"""add in TileLang: blocks of elements in the order of the output."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, aligned, compiled

BLOCK = 1024
"""Elements a block of threads."""


def _program(dtype: str) -> Any:
    n = T.dynamic("n")

    @T.prim_func
    def add(x: T.Tensor((n,), dtype), y: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                if bx * BLOCK + i < n:
                    out[bx * BLOCK + i] = x[bx * BLOCK + i] + y[bx * BLOCK + i]

    return add


@implementation("add", paradigm="tilelang")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; operands that are strided or broadcast are copied first."""
    x, y = (aligned(operand) for operand in torch.broadcast_tensors(x, y))
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        compiled(_program, x)(x.view(-1), y.view(-1), out.view(-1))
    return out
