"""Products in Triton that some architectures have no room for, some no instruction, and some compilers no word."""

from __future__ import annotations

from typing import Any

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


@triton.jit
def _attend(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns, features = tl.arange(0, N), tl.arange(0, D)
    base = tl.program_id(1) * length * D
    queries = tl.load(q + base + rows[:, None] * D + features[None, :], mask=rows[:, None] < length, other=0.0)
    largest, total = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    mean = tl.zeros((M, D), tl.float32)
    end = min(length, (tl.program_id(0) + 1) * M) if CAUSAL else length
    for start in range(0, end, N):
        keys = start + columns
        place = base + keys[:, None] * D + features[None, :]
        there = keys[:, None] < length
        scores = tl.dot(queries, tl.trans(tl.load(k + place, mask=there, other=0.0))) * scale
        seen = keys[None, :] < length
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - larger[:, None])
        shrunk = tl.exp(largest - larger)
        total = total * shrunk + tl.sum(weights, 1)
        mean = mean * shrunk[:, None] + tl.dot(
            weights.to(v.dtype.element_ty), tl.load(v + place, mask=there, other=0.0)
        )
        largest = larger
    tl.store(out + base + rows[:, None] * D + features[None, :], mean / total[:, None], mask=rows[:, None] < length)


@implementation("attention", paradigm="triton", dtypes=("float16",))
def tall(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
    out = torch.empty_like(q)
    _attend[(1, 1)](q, k, v, out, q.shape[-2], 0.125, 128, 64, 64, options["causal"])
    return out
