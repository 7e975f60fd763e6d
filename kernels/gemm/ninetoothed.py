"""gemm in NineToothed: a program computes one tile of the product.

float16 and bfloat16 are accumulated in float32. Outside of the operands zeros are read, on both sides of a product,
so that nothing that lies beyond the end of k can leak in.
"""

from __future__ import annotations

import functools
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Symbol, Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import near, parts, wide, with_axes

_M, _N, _K = (Symbol(name, constexpr=True) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))

_SMALL, _LARGE = (32, 32, 32), (64, 64, 64)
"""Rows and columns of a tile, and how far it goes along k at a time: for wide types and for narrow ones."""


def arrangement(
    a: Tensor, b: Tensor, out: Tensor, dtype: Tensor, precision: Tensor, m: Any = _M, n: Any = _N, k: Any = _K
) -> tuple[Tensor, ...]:
    """Return tiles of ``out``, (batches, m, n), each with its row of tiles of ``a`` and column of those of ``b``."""
    tiles = out.tile((1, m, n))
    tiles.dtype = tiles.dtype.squeeze(0)
    left = a.tile((1, m, k)).tile((1, 1, -1)).expand((-1, -1, tiles.shape[2]))
    left.dtype = left.dtype.squeeze((0, 1))
    left.dtype.dtype = left.dtype.dtype.squeeze(0)
    right = b.tile((1, k, n)).tile((1, -1, 1)).expand((-1, tiles.shape[1], -1))
    right.dtype = right.dtype.squeeze((0, 2))
    right.dtype.dtype = right.dtype.dtype.squeeze(0)
    return left, right, tiles, dtype, precision


def application(a, b, out, dtype, precision):
    total = ntl.zeros(out.shape, dtype)
    for step in range(a.shape[0]):
        total = ntl.dot(a[step], b[step], total, input_precision=precision, out_dtype=dtype)
    out = total


@functools.cache
def _kernel() -> Any:
    constants = Tensor(0, constexpr=True), Tensor(0, constexpr=True)
    return ninetoothed.make(
        arrangement, application, (Tensor(3, other=0), Tensor(3, other=0), Tensor(3), *constants), num_stages=3
    )


def _multiply(a: torch.Tensor, b: torch.Tensor, *, precision: str) -> torch.Tensor:
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
    if not a.shape[-1]:
        return out.zero_()
    if out.numel():
        m, n, k = _LARGE if a.element_size() == 2 else _SMALL
        right = with_axes(near(b), 3)
        for left, target in parts(with_axes(near(a), 3), with_axes(out, 3), axis=1):
            _kernel()(left, right, target, wide(a.dtype), precision, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k)
    return out


@implementation("gemm", paradigm="ninetoothed")
def tiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, tiles in row-major order."""
    return _multiply(a, b, precision="ieee")


@implementation(
    "gemm", paradigm="ninetoothed", optimizes="tiled", technique="tf32 operands", numerics="tf32", dtypes=("float32",)
)
def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, with operands rounded to tf32."""
    return _multiply(a, b, precision="tf32")
