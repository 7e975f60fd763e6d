"""relu in TileLang: blocks of elements in the order of the output."""

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
    def relu(x: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                if bx * BLOCK + i < n:
                    # Not a maximum: hardware's drops a NaN, while the comparison with one is false and keeps it.
                    value = x[bx * BLOCK + i]
                    out[bx * BLOCK + i] = T.if_then_else(value <= T.cast(0, dtype), T.cast(0, dtype), value)

    return relu


@implementation("relu", paradigm="tilelang")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; a strided ``x`` is copied first."""
    x = aligned(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        compiled(_program, x)(x.view(-1), out.view(-1))
    return out
