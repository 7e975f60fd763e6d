"""relu in TileLang: blocks of elements in the order of the output."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, VECTOR, aligned, compiled

BLOCK = 1024
"""Elements a block of threads."""


def _program(dtype: str, vectors: bool) -> Any:
    n = T.dynamic("n", "int64")

    @T.prim_func
    def relu(x: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            if vectors:
                T.assume(n % VECTOR == 0)
            begin = T.cast(bx, "int64") * BLOCK
            for i in T.Parallel(BLOCK):
                if begin + i < n:
                    # Not a maximum: hardware's drops a NaN, while the comparison with one is false and keeps it.
                    value = x[begin + i]
                    out[begin + i] = T.if_then_else(value <= T.cast(0, dtype), T.cast(0, dtype), value)

    return relu


def _launch(x: torch.Tensor, vectors: bool) -> torch.Tensor:
    x = aligned(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        compiled(_program, x, vectors and out.numel() % VECTOR == 0)(x.view(-1), out.view(-1))
    return out


@implementation("relu", paradigm="tilelang")
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous; a strided ``x`` is copied first."""
    return _launch(x, vectors=False)


@implementation("relu", paradigm="tilelang", optimizes="flat", technique="vector loads")
def vectorized(x: torch.Tensor) -> torch.Tensor:
    """Return the same; several elements are moved at once where their number allows it."""
    return _launch(x, vectors=True)
