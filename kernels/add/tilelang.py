"""add in TileLang: blocks of elements in the order of the output."""

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
    def add(x: T.Tensor((n,), dtype), y: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            if vectors:
                T.assume(n % VECTOR == 0)
            begin = T.cast(bx, "int64") * BLOCK
            for i in T.Parallel(BLOCK):
                if begin + i < n:
                    out[begin + i] = x[begin + i] + y[begin + i]

    return add


def _launch(x: torch.Tensor, y: torch.Tensor, vectors: bool) -> torch.Tensor:
    x, y = (aligned(operand) for operand in torch.broadcast_tensors(x, y))
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        compiled(_program, x, vectors and out.numel() % VECTOR == 0)(x.view(-1), y.view(-1), out.view(-1))
    return out


@implementation("add", paradigm="tilelang")
def flat(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return ``x + y``, contiguous; operands that are strided or broadcast are copied first."""
    return _launch(x, y, vectors=False)


@implementation("add", paradigm="tilelang", optimizes="flat", technique="vector loads")
def vectorized(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the same; several elements are moved at once where their number allows it."""
    return _launch(x, y, vectors=True)
