"""attention in Triton: FlashAttention's forward pass, a program for some queries of one head.

Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import tanh, wide

_TILES = {
    torch.float64: (16, 16),
    torch.float32: (32, 32),
    torch.float16: (64, 64),
    torch.bfloat16: (64, 64),
}
"""Queries and keys that a program holds at a time."""

LOG2_E = 1.4426950408889634


@triton.jit
def _flash(
    q, k, v, out, heads, groups, queries, keys, size, window,
    q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    SCALE: tl.constexpr, CAP: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, CAPPED: tl.constexpr,
    WINDOWED: tl.constexpr, BINARY: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)
    batch, shared = head // heads, head % heads // groups
    row = tl.program_id(0) * M + tl.arange(0, M)
    inner = tl.arange(0, D)
    rows, depth = row[:, None].to(tl.int64), inner[None, :].to(tl.int64)
    left = tl.load(
        q + batch * q0 + head % heads * q1 + rows * q2 + depth * q3,
        mask=(rows < queries) & (depth < size),
        other=0.0,
    )
    keys_at, values_at = k + batch * k0 + shared * k1, v + batch * v0 + shared * v1
    peak = tl.full((M, 1), float("-inf"), WIDE)
    total = tl.zeros((M, 1), WIDE)
    result = tl.zeros((M, D), WIDE)
    for start in range(0, keys, N):
        column = (start + tl.arange(0, N)).to(tl.int64)
        right = tl.load(
            keys_at + column[None, :] * k2 + inner[:, None].to(tl.int64) * k3,
            mask=(column[None, :] < keys) & (inner[:, None] < size),
            other=0.0,
        )
        scores = tl.dot(left, right, input_precision="ieee", out_dtype=WIDE) * SCALE
        if CAPPED:
            scores = tanh(scores / CAP) * CAP
            if BINARY:
                scores = scores * 1.4426950408889634
        seen = column[None, :] < keys
        if CAUSAL:
            seen = seen & (column[None, :] <= rows)
        if WINDOWED:
            seen = seen & (column[None, :] - rows < window) & (rows - column[None, :] < window)
        scores = tl.where(seen, scores, float("-inf"))
        # Whatever a maximum makes of a NaN, the sum of exponentials keeps it.
        higher = tl.maximum(peak, tl.max(scores, 1, keep_dims=True))
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        if BINARY:
            weights, faded = tl.exp2(scores - shift), tl.exp2(peak - shift)
        else:
            weights, faded = tl.exp(scores - shift), tl.exp(peak - shift)
        total = total * faded + tl.sum(weights, 1, keep_dims=True)
        block = tl.load(
            values_at + column[:, None] * v2 + depth * v3,
            mask=(column[:, None] < keys) & (depth < size),
            other=0.0,
        )
        result = result * faded + tl.dot(weights.to(block.dtype), block, input_precision="ieee", out_dtype=WIDE)
        peak = higher
    target = out + (head * queries + rows) * size + depth
    tl.store(target, result / total, mask=(rows < queries) & (depth < size))


def _launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
    *,
    binary: bool,
) -> torch.Tensor:
    batch, heads, queries, size = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    m, n = _TILES[q.dtype]
    factor = size**-0.5 if scale is None else scale
    if binary and softcap is None:
        factor *= LOG2_E
    _flash[(triton.cdiv(queries, m), batch * heads)](
        q, k, v, out, heads, heads // k.shape[1], queries, k.shape[2], size, window or 0,
        *q.stride(), *k.stride(), *v.stride(),
        SCALE=factor, CAP=softcap or 1.0,
        M=m, N=n, D=max(16, triton.next_power_of_2(size)), CAUSAL=causal, CAPPED=softcap is not None,
        WINDOWED=window is not None, BINARY=binary, WIDE=wide(q.dtype), num_stages=2,
    )  # fmt: skip
    return out


@implementation("attention", paradigm="triton")
def flash(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v``, with running maxima and sums in place of whole rows."""
    return _launch(q, k, v, causal, scale, softcap, window, binary=False)


@implementation("attention", paradigm="triton", optimizes="flash", technique="exp2 with folded scale")
def flash_exp2(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same by powers of two, which hardware has: log2 e goes into the scale of the scores."""
    return _launch(q, k, v, causal, scale, softcap, window, binary=True)
