"""Products in Triton that some architectures have no room for, some no instruction, and some compilers no word."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation


@triton.jit
def _multiply(a, b, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    row, column, inner = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, n, K):
        left = tl.load(a + row * n + start + inner[None, :])
        right = tl.load(b + (start + inner[:, None]) * n + column)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(out + row * n + column, total)


def _product(a: torch.Tensor, b: torch.Tensor, precision: str, size: int, stages: int) -> torch.Tensor:
    out = torch.empty_like(a)
    _multiply[(1,)](a, b, out, a.shape[-1], size, size, 64, precision, num_warps=4, num_stages=stages)
    return out


@implementation("gemm", paradigm="triton", dtypes=("float16",))
def four_stages(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _product(a, b, "ieee", 128, 4)


@implementation("gemm", paradigm="triton", dtypes=("float32",), numerics="tf32")
def rounded(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _product(a, b, "tf32", 32, 1)
