"""rms_norm in TileLang: a thread for each row, or blocks of threads that hold rows in blocks or whole."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import (
    THREADS,
    VECTOR,
    WIDTHS,
    Program,
    aligned,
    compiled,
    rows_of,
    tile_of,
    wide,
)


def _two_pass(dtype: str) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def rms_norm(
        x: T.Tensor((rows, n), dtype), weight: T.Tensor((n,), dtype), out: T.Tensor((rows, n), dtype), eps: T.float64
    ):
        with T.Kernel(T.ceildiv(rows, THREADS), threads=THREADS) as bx:
            squares = T.alloc_local((1,), accumulator)
            scale = T.alloc_local((1,), accumulator)
            for i in T.Parallel(THREADS):
                row = bx * THREADS + i
                if row < rows:
                    squares[0] = 0
                    for j in T.serial(n):
                        squares[0] += T.cast(x[row, j], accumulator) * T.cast(x[row, j], accumulator)
                    mean = squares[0] / T.cast(n, accumulator)
                    scale[0] = T.cast(1, accumulator) / T.sqrt(mean + T.cast(eps, accumulator))
                    for j in T.serial(n):
                        scaled = T.cast(x[row, j], accumulator) * scale[0]
                        out[row, j] = T.cast(scaled * T.cast(weight[j], accumulator), dtype)

    return rms_norm


def _blocks(dtype: str, height: int, width: int, vectors: bool) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def rms_norm(
        x: T.Tensor((rows, n), dtype), weight: T.Tensor((n,), dtype), out: T.Tensor((rows, n), dtype), eps: T.float64
    ):
        with T.Kernel(T.ceildiv(rows, height), threads=THREADS) as bx:
            narrow = T.alloc_fragment((height, width), dtype)
            weights = T.alloc_fragment((width,), dtype)
            block = T.alloc_fragment((height, width), accumulator)
            squares = T.alloc_fragment((height, width), accumulator)
            scale = T.alloc_fragment((height,), accumulator)
            if vectors:
                T.assume(n % VECTOR == 0)
            T.clear(squares)
            for step in T.serial(T.ceildiv(n, width)):
                T.copy(x[bx * height, step * width], narrow)
                T.copy(narrow, block)
                for i, j in T.Parallel(height, width):
                    squares[i, j] += block[i, j] * block[i, j]
            T.reduce_sum(squares, scale, dim=1)
            for i in T.Parallel(height):
                mean = scale[i] / T.cast(n, accumulator)
                scale[i] = T.cast(1, accumulator) / T.sqrt(mean + T.cast(eps, accumulator))
            for step in T.serial(T.ceildiv(n, width)):
                T.copy(x[bx * height, step * width], narrow)
                T.copy(weight[step * width], weights)
                T.copy(narrow, block)
                for i, j in T.Parallel(height, width):
                    block[i, j] = block[i, j] * scale[i] * T.cast(weights[j], accumulator)
                T.copy(block, narrow)
                T.copy(narrow, out[bx * height, step * width])

    return rms_norm


def _one_block(dtype: str, height: int, width: int, vectors: bool) -> Any:
    rows, n = T.dynamic("rows"), T.dynamic("n")
    accumulator = wide(dtype)

    @T.prim_func
    def rms_norm(
        x: T.Tensor((rows, n), dtype), weight: T.Tensor((n,), dtype), out: T.Tensor((rows, n), dtype), eps: T.float64
    ):
        with T.Kernel(T.ceildiv(rows, height), threads=THREADS) as bx:
            narrow = T.alloc_fragment((height, width), dtype)
            weights = T.alloc_fragment((width,), dtype)
            row = T.alloc_fragment((height, width), accumulator)
            squares = T.alloc_fragment((height, width), accumulator)
            scale = T.alloc_fragment((height,), accumulator)
            if vectors:
                T.assume(n % VECTOR == 0)
            T.copy(x[bx * height, 0], narrow)
            T.copy(weight[0], weights)
            T.copy(narrow, row)
            for i, j in T.Parallel(height, width):
                squares[i, j] = row[i, j] * row[i, j]
            T.reduce_sum(squares, scale, dim=1)
            for i in T.Parallel(height):
                mean = scale[i] / T.cast(n, accumulator)
                scale[i] = T.cast(1, accumulator) / T.sqrt(mean + T.cast(eps, accumulator))
            for i, j in T.Parallel(height, width):
                row[i, j] = row[i, j] * scale[i] * T.cast(weights[j], accumulator)
            T.copy(row, narrow)
            T.copy(narrow, out[bx * height, 0])

    return rms_norm


def _launch(program: Program, x: torch.Tensor, weight: torch.Tensor, eps: float, *tile: Any) -> torch.Tensor:
    """Return what ``program`` makes of the rows of ``x``; operands that are strided are copied first."""
    if not x.numel():
        return torch.empty_like(x)
    rows = rows_of(x, -1)
    out = torch.empty_like(rows)
    compiled(program, rows, *tile)(rows, aligned(weight), out, eps)
    return out.view(x.shape)


@implementation("rms_norm", paradigm="tilelang")
def two_pass(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a thread goes along a row twice."""
    return _launch(_two_pass, x, weight, eps)


@implementation(
    "rms_norm", paradigm="tilelang", optimizes="two_pass", technique="a block a row", needs=("shared memory",)
)
def blocks(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the same: all threads of a block go along a row, or several short ones, in blocks."""
    return _launch(_blocks, x, weight, eps, *tile_of(x.shape[-1]))


@implementation(
    "rms_norm", paradigm="tilelang", optimizes="blocks", technique="row kept in registers", needs=("shared memory",)
)
def one_block(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the same: a row of up to 8192 elements is read once."""
    n = x.shape[-1]
    if n > WIDTHS[-1]:
        return blocks(x, weight, eps=eps)
    return _launch(_one_block, x, weight, eps, *tile_of(n, WIDTHS[-1]))
