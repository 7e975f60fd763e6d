"""sum in TileLang: a thread for each row, or blocks of threads that go along rows."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, VECTOR, Program, compiled, rows_of, tile_of, wide


def _one_pass(dtype: str) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def sum(x: T.Tensor((rows, n), dtype), out: T.Tensor((rows,), dtype)):
        with T.Kernel(T.ceildiv(rows, THREADS), threads=THREADS) as bx:
            total = T.alloc_local((1,), accumulator)
            for i in T.Parallel(THREADS):
                if bx * THREADS + i < rows:
                    total[0] = 0
                    for j in T.serial(n):
                        total[0] += T.cast(x[bx * THREADS + i, j], accumulator)
                    out[bx * THREADS + i] = T.cast(total[0], dtype)

    return sum


def _blocks(dtype: str, height: int, width: int, vectors: bool) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def sum(x: T.Tensor((rows, n), dtype), out: T.Tensor((rows,), dtype)):
        with T.Kernel(T.ceildiv(rows, height), threads=THREADS) as bx:
            block = T.alloc_fragment((height, width), dtype)
            partial = T.alloc_fragment((height, width), accumulator)
            total = T.alloc_fragment((height,), accumulator)
            if vectors:
                T.assume(n % VECTOR == 0)
            T.clear(partial)
            for step in T.serial(T.ceildiv(n, width)):
                T.copy(x[bx * height, step * width], block)
                for i, j in T.Parallel(height, width):
                    partial[i, j] += T.cast(block[i, j], accumulator)
            T.reduce_sum(partial, total, dim=1)
            T.copy(total, out[bx * height])

    return sum


def _launch(program: Program, x: torch.Tensor, dim: int, *tile: Any) -> torch.Tensor:
    """Return what ``program`` makes of rows along ``dim``; operands that lie otherwise are copied first."""
    out = torch.empty(x.movedim(dim, -1).shape[:-1], dtype=x.dtype, device=x.device)
    if not x.numel():
        return out.zero_()
    compiled(program, x, *tile)(rows_of(x, dim), out.view(-1))
    return out


@implementation("sum", paradigm="tilelang")
def one_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``: a thread goes along a row."""
    return _launch(_one_pass, x, dim)


@implementation("sum", paradigm="tilelang", optimizes="one_pass", technique="a block a row", needs=("shared memory",))
def blocks(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the same: all threads of a block go along a row, or several short ones, in blocks."""
    return _launch(_blocks, x, dim, *tile_of(x.shape[dim]))
