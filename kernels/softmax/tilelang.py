"""softmax in TileLang: a thread for each row, or blocks of threads that hold rows in blocks or whole.

Where a row holds a NaN or +inf, or nothing but -inf, its sum of exponentials is NaN, so all of it becomes NaN.
"""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import (
    THREADS,
    VECTOR,
    WIDTHS,
    Program,
    compiled,
    rows_of,
    tile_of,
    wide,
)


def _three_pass(dtype: str) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def softmax(x: T.Tensor((rows, n), dtype), out: T.Tensor((rows, n), dtype)):
        with T.Kernel(T.ceildiv(rows, THREADS), threads=THREADS) as bx:
            peak = T.alloc_local((1,), accumulator)
            total = T.alloc_local((1,), accumulator)
            for i in T.Parallel(THREADS):
                row = bx * THREADS + i
                if row < rows:
                    peak[0] = -T.infinity(accumulator)
                    for j in T.serial(n):
                        peak[0] = T.max(peak[0], T.cast(x[row, j], accumulator))
                    total[0] = 0
                    for j in T.serial(n):
                        total[0] += T.exp(T.cast(x[row, j], accumulator) - peak[0])
                    for j in T.serial(n):
                        out[row, j] = T.cast(T.exp(T.cast(x[row, j], accumulator) - peak[0]) / total[0], dtype)

    return softmax


def _online(dtype: str, height: int, width: int, vectors: bool) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def softmax(x: T.Tensor((rows, n), dtype), out: T.Tensor((rows, n), dtype)):
        with T.Kernel(T.ceildiv(rows, height), threads=THREADS) as bx:
            narrow = T.alloc_fragment((height, width), dtype)
            block = T.alloc_fragment((height, width), accumulator)
            peak = T.alloc_fragment((height,), accumulator)
            shift = T.alloc_fragment((height,), accumulator)
            fade = T.alloc_fragment((height,), accumulator)
            partial = T.alloc_fragment((height,), accumulator)
            total = T.alloc_fragment((height,), accumulator)
            T.annotate_safe_value({x: -T.infinity(dtype)})
            if vectors:
                T.assume(n % VECTOR == 0)
            T.fill(peak, -T.infinity(accumulator))
            T.clear(total)
            for step in T.serial(T.ceildiv(n, width)):
                T.copy(x[bx * height, step * width], narrow)
                T.copy(narrow, block)
                T.copy(peak, fade)
                T.reduce_max(block, peak, dim=1, clear=False)
                for i in T.Parallel(height):
                    # As long as a row has shown nothing but -inf, its exponentials are 0, not those of -inf minus -inf.
                    shift[i] = T.if_then_else(peak[i] == -T.infinity(accumulator), T.cast(0, accumulator), peak[i])
                    fade[i] = T.exp(fade[i] - shift[i])
                for i, j in T.Parallel(height, width):
                    block[i, j] = T.exp(block[i, j] - shift[i])
                T.reduce_sum(block, partial, dim=1)
                for i in T.Parallel(height):
                    total[i] = total[i] * fade[i] + partial[i]
            for step in T.serial(T.ceildiv(n, width)):
                T.copy(x[bx * height, step * width], narrow)
                T.copy(narrow, block)
                for i, j in T.Parallel(height, width):
                    block[i, j] = T.exp(block[i, j] - peak[i]) / total[i]
                T.copy(block, narrow)
                T.copy(narrow, out[bx * height, step * width])

    return softmax


def _one_block(dtype: str, height: int, width: int, vectors: bool) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def softmax(x: T.Tensor((rows, n), dtype), out: T.Tensor((rows, n), dtype)):
        with T.Kernel(T.ceildiv(rows, height), threads=THREADS) as bx:
            narrow = T.alloc_fragment((height, width), dtype)
            row = T.alloc_fragment((height, width), accumulator)
            peak = T.alloc_fragment((height,), accumulator)
            total = T.alloc_fragment((height,), accumulator)
            T.annotate_safe_value({x: -T.infinity(dtype)})
            if vectors:
                T.assume(n % VECTOR == 0)
            T.copy(x[bx * height, 0], narrow)
            T.copy(narrow, row)
            T.reduce_max(row, peak, dim=1)
            for i, j in T.Parallel(height, width):
                row[i, j] = T.exp(row[i, j] - peak[i])
            T.reduce_sum(row, total, dim=1)
            for i, j in T.Parallel(height, width):
                row[i, j] = row[i, j] / total[i]
            T.copy(row, narrow)
            T.copy(narrow, out[bx * height, 0])

    return softmax


def _launch(program: Program, x: torch.Tensor, dim: int, *tile: Any) -> torch.Tensor:
    """Return what ``program`` makes of rows along ``dim``; operands that lie otherwise are copied first."""
    if not x.numel():
        return torch.empty_like(x)
    rows = rows_of(x, dim)
    out = torch.empty_like(rows)
    compiled(program, rows, *tile)(rows, out)
    return out.view(x.movedim(dim, -1).shape).movedim(-1, dim)


@implementation("softmax", paradigm="tilelang")
def three_pass(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the softmax of ``x`` along ``dim``: a thread goes along a row three times."""
    return _launch(_three_pass, x, dim)


@implementation(
    "softmax", paradigm="tilelang", optimizes="three_pass", technique="online softmax", needs=("shared memory",)
)
def online(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the same: one pass for maximum and sum, and one to write, by all threads of a block."""
    return _launch(_online, x, dim, *tile_of(x.shape[dim]))


@implementation(
    "softmax", paradigm="tilelang", optimizes="online", technique="row kept in registers", needs=("shared memory",)
)
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the same: a row of up to 8192 elements is read once."""
    n = x.shape[dim]
    if n > WIDTHS[-1]:
        return online(x, dim=dim)
    return _launch(_one_block, x, dim, *tile_of(n, WIDTHS[-1]))
