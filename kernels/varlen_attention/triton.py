"""varlen_attention in Triton: FlashAttention's forward pass, a program for some queries of one head of one sequence.

Where sequences begin and end is read from the device, so that the host waits for nothing.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.scaled_dot_product import LOG2_E
from kernels.toolchains.triton import weighed, wide

_TILES = {torch.float64: (16, 16), torch.float32: (32, 32), torch.float16: (64, 64), torch.bfloat16: (64, 64)}
"""Queries and keys that a program holds at a time."""


@triton.jit
def _place(tile, cu_q, sequences, step, M: tl.constexpr):
    """Return the sequence that ``tile`` of all tiles belongs to, and which of its tiles that is; no sequence is -1."""
    found, rest = -1, 0
    before = 0
    start = tl.load(cu_q)
    for sequence in range(0, sequences):
        cu_q += step
        end = tl.load(cu_q)
        after = before + tl.cdiv(end - start, M)
        mine = (before <= tile) & (tile < after)
        found = tl.where(mine, sequence, found)
        rest = tl.where(mine, tile - before, rest)
        before, start = after, end
    return tl.cast(found, tl.int64), rest


@triton.jit
def _flash(
    q, k, v, cu_q, cu_k, out, heads, groups, sequences, tiles, size,
    q0, q1, q2, k0, k1, k2, v0, v1, v2, cu_q0, cu_k0,
    SCALE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, PACKED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    head = (tl.program_id(0) // tiles).to(tl.int64)
    tile = tl.program_id(0) % tiles
    if PACKED:
        sequence, tile = _place(tile, cu_q, sequences, cu_q0, M)
        if sequence < 0:
            return
    else:
        sequence, head = head // heads, head % heads
    first, begin = tl.load(cu_q + sequence * cu_q0), tl.load(cu_k + sequence * cu_k0)
    queries = tl.load(cu_q + (sequence + 1) * cu_q0) - first
    keys = tl.load(cu_k + (sequence + 1) * cu_k0) - begin
    if tile * M >= queries:
        return
    inner = tl.arange(0, D).to(tl.int64)
    row = tile * M + tl.arange(0, M)[:, None]
    rows = (first + row).to(tl.int64)
    inside = (row < queries) & (inner[None, :] < size)
    left = tl.load(q + rows * q0 + head * q1 + inner[None, :] * q2, mask=inside, other=0.0)
    peak = tl.full((M, 1), float("-inf"), WIDE)
    total = tl.zeros((M, 1), WIDE)
    result = tl.zeros((M, D), WIDE)
    end = keys
    if CAUSAL:
        end = tl.minimum(end, tile * M + M + keys - queries)
    for start in range(0, end, N):
        column = start + tl.arange(0, N)
        columns = (begin + column).to(tl.int64)
        right = tl.load(
            k + columns[None, :] * k0 + head // groups * k1 + inner[:, None] * k2,
            mask=(column[None, :] < keys) & (inner[:, None] < size),
            other=0.0,
        )
        scores = tl.dot(left, right, input_precision="ieee", out_dtype=WIDE) * SCALE
        seen = column[None, :] < keys
        if CAUSAL:
            seen = seen & (column[None, :] <= row + (keys - queries))
        scores = tl.where(seen, scores, float("-inf"))
        weights, faded, peak, total = weighed(scores, peak, total, 1.0, True)
        block = tl.load(
            v + columns[:, None] * v0 + head // groups * v1 + inner[None, :] * v2,
            mask=(column[:, None] < keys) & (inner[None, :] < size),
            other=0.0,
        )
        result = tl.dot(weights.to(block.dtype), block, result * faded, input_precision="ieee", out_dtype=WIDE)
    tl.store(out + (rows * heads + head) * size + inner[None, :], result / total, mask=inside)


def _launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    causal: bool,
    scale: float | None,
    *,
    packed: bool,
) -> torch.Tensor:
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    count, heads, size = q.shape
    sequences = cu_q.numel() - 1
    m, n = _TILES[q.dtype]
    tiles = triton.cdiv(count, m) + sequences if packed else triton.cdiv(count, m)
    _flash[(tiles * heads * (1 if packed else sequences),)](
        q, k, v, cu_q, cu_k, out, heads, heads // k.shape[1], sequences, tiles, size,
        *q.stride(), *k.stride(), *v.stride(), cu_q.stride(0), cu_k.stride(0),
        SCALE=(size**-0.5 if scale is None else scale) * LOG2_E,
        M=m, N=n, D=max(16, triton.next_power_of_2(size)), CAUSAL=causal, PACKED=packed, WIDE=wide(q.dtype),
        num_stages=2,
    )  # fmt: skip
    return out


@implementation("varlen_attention", paradigm="triton")
def flash(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each sequence, by as many programs for each as if it had all the queries."""
    return _launch(q, k, v, cu_q, cu_k, causal, scale, packed=False)


@implementation("varlen_attention", paradigm="triton", optimizes="flash", technique="tiles packed over sequences")
def packed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the same by no more programs than there are tiles, and one a sequence: each looks up which tile is its."""
    return _launch(q, k, v, cu_q, cu_k, causal, scale, packed=True)
