"""gemm in TileLang: a thread computes one element of the product, without matrix units, so it runs anywhere."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import compiled, wide

SIDE = 16
"""Rows and columns of a block of threads, one element each."""


def _program(dtype: str) -> Any:
    batches, m, n, k = (T.dynamic(name) for name in ("batches", "m", "n", "k"))
    accumulator = wide(dtype)

    @T.prim_func
    def gemm(
        a: T.Tensor((batches, m, k), dtype), b: T.Tensor((batches, k, n), dtype), out: T.Tensor((batches, m, n), dtype)
    ):
        with T.Kernel(T.ceildiv(n, SIDE), T.ceildiv(m, SIDE), batches, threads=SIDE * SIDE) as (bx, by, bz):
            total = T.alloc_local((1,), accumulator)
            for i, j in T.Parallel(SIDE, SIDE):
                if (by * SIDE + i < m) & (bx * SIDE + j < n):
                    total[0] = 0
                    for step in T.serial(k):
                        left, right = a[bz, by * SIDE + i, step], b[bz, step, bx * SIDE + j]
                        total[0] += T.cast(left, accumulator) * T.cast(right, accumulator)
                    out[bz, by * SIDE + i, bx * SIDE + j] = T.cast(total[0], dtype)

    return gemm


@implementation("gemm", paradigm="tilelang")
def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``; strided operands are copied first."""
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if not a.shape[-1]:
        return out.zero_()
    if out.numel():
        left, right, target = (x.contiguous().view(-1, *x.shape[-2:]) for x in (a, b, out))
        compiled(_program, a)(left, right, target)
    return out
