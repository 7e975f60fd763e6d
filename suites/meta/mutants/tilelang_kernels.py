"""Wrong kernels in TileLang, each with one fault; it keeps accesses inside of tensors by itself."""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.toolchains.tilelang import THREADS, Program, compiled
from suites.meta.mutants import fault

BLOCK = 128
"""Elements a block of threads."""


def _nan_dropped(dtype: str) -> Any:
    n = T.dynamic("n")

    @T.prim_func
    def relu(x: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                if bx * BLOCK + i < n:
                    value = x[bx * BLOCK + i]
                    out[bx * BLOCK + i] = T.if_then_else(value > T.cast(0, dtype), value, T.cast(0, dtype))

    return relu


def _last_unwritten(dtype: str) -> Any:
    n = T.dynamic("n")

    @T.prim_func
    def relu(x: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                if bx * BLOCK + i < n - 1:
                    value = x[bx * BLOCK + i]
                    out[bx * BLOCK + i] = T.if_then_else(value <= T.cast(0, dtype), T.cast(0, dtype), value)

    return relu


def _input_overwritten(dtype: str) -> Any:
    n = T.dynamic("n")

    @T.prim_func
    def relu(x: T.Tensor((n,), dtype), out: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                if bx * BLOCK + i < n:
                    value = x[bx * BLOCK + i]
                    out[bx * BLOCK + i] = T.if_then_else(value <= T.cast(0, dtype), T.cast(0, dtype), value)
                    x[bx * BLOCK + i] = T.cast(0, dtype)

    return relu


def _launched(program: Program, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    compiled(program, x)(x.view(-1), out.view(-1))
    return out


@fault("F4", "triton#10291")
@implementation("relu", paradigm="tilelang")
def wrong_nan_dropped(x: torch.Tensor) -> torch.Tensor:
    return _launched(_nan_dropped, x)


@fault("F25", "triton#5048")
@implementation("relu", paradigm="tilelang")
def wrong_last_unwritten(x: torch.Tensor) -> torch.Tensor:
    return _launched(_last_unwritten, x)


@fault("inputs", "InfiniCore#1207")
@implementation("relu", paradigm="tilelang")
def wrong_input_overwritten(x: torch.Tensor) -> torch.Tensor:
    return _launched(_input_overwritten, x)
