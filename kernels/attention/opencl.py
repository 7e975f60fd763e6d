"""attention in OpenCL: scores written out and read again, or FlashAttention's running maxima and sums.

Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""

from __future__ import annotations

import math

import torch

from kernels import implementation
from kernels.toolchains.opencl import GROUP, group_size, launch

TILE = 8
"""Work-items along each side of a work-group, and keys that local memory holds."""

_SOURCE = r"""
#define MASK long queries, long keys, long size, WIDE scale, WIDE cap, long causal, long window

// A score as it enters the softmax; without a cap or a window these are 0.
WIDE capped(WIDE score, WIDE cap) { return cap > 0 ? tanh(score / cap) * cap : score; }

bool sees(long query, long key, long causal, long window)
{
    return (!causal || key <= query) && (!window || (key - query < window && query - key < window));
}

__kernel void scored(
    __global const T *q, long q_at, __global const T *k, long k_at, __global WIDE *scores, long scores_at,
    long heads, long served, MASK, long4 q_stride, long4 k_stride)
{
    const long key = get_global_id(0), query = get_global_id(1), head = get_global_id(2);
    if (key >= keys || query >= queries)
        return;
    q += q_at + head / heads * q_stride.x + head % heads * q_stride.y + query * q_stride.z;
    k += k_at + head / heads * k_stride.x + head % heads / served * k_stride.y + key * k_stride.z;
    WIDE score = 0;
    for (long i = 0; i < size; i++)
        score += LOAD(q, i * q_stride.w) * LOAD(k, i * k_stride.w);
    scores[scores_at + (head * queries + query) * keys + key] =
        sees(query, key, causal, window) ? capped(score * scale, cap) : (WIDE)-INFINITY;
}

__kernel void exponentials(
    __global WIDE *scores, long scores_at, __global WIDE *totals, long totals_at, long rows, long keys)
{
    const long row = get_global_id(0);
    if (row >= rows)
        return;
    scores += scores_at + row * keys;
    WIDE peak = -INFINITY, total = 0;
    for (long i = 0; i < keys; i++)
        peak = fmax(peak, scores[i]);
    for (long i = 0; i < keys; i++) {
        scores[i] = exp(scores[i] - peak);
        total += scores[i];
    }
    totals[totals_at + row] = total;
}

__kernel void weighted(
    __global const WIDE *scores, long scores_at, __global const WIDE *totals, long totals_at, __global const T *v,
    long v_at, __global T *out, long out_at, long heads, long served, long queries, long keys, long size,
    long4 v_stride)
{
    const long i = get_global_id(0), query = get_global_id(1), head = get_global_id(2);
    if (i >= size || query >= queries)
        return;
    v += v_at + head / heads * v_stride.x + head % heads / served * v_stride.y + i * v_stride.w;
    const long row = head * queries + query;
    WIDE sum = 0;
    for (long key = 0; key < keys; key++)
        sum += scores[scores_at + row * keys + key] * LOAD(v, key * v_stride.z);
    STORE(out, out_at + row * size + i, sum / totals[totals_at + row]);
}

#ifdef SIZE
// A work-item has one query; the group brings TILE keys and values at a time to local memory, filled up with zeros.
__kernel void online(
    __global const T *q, long q_at, __global const T *k, long k_at, __global const T *v, long v_at,
    __global T *out, long out_at, long heads, long served, MASK, long4 q_stride, long4 k_stride, long4 v_stride)
{
    __local WIDE near_keys[TILE][SIZE], near_values[TILE][SIZE];
    const int item = get_local_id(0);
    const long query = get_global_id(0), head = get_global_id(1);
    const bool inside = query < queries;
    q += q_at + head / heads * q_stride.x + head % heads * q_stride.y + query * q_stride.z;
    k += k_at + head / heads * k_stride.x + head % heads / served * k_stride.y;
    v += v_at + head / heads * v_stride.x + head % heads / served * v_stride.y;

    WIDE mine[SIZE], result[SIZE];
    for (int i = 0; i < SIZE; i++) {
        mine[i] = inside && i < size ? LOAD(q, i * q_stride.w) : (WIDE)0;
        result[i] = 0;
    }
    WIDE peak = -INFINITY, total = 0;
    for (long start = 0; start < keys; start += TILE) {
        for (int i = item; i < TILE * SIZE; i += GROUP) {
            const long key = start + i / SIZE, at = i % SIZE;
            const bool there = key < keys && at < size;
            near_keys[i / SIZE][at] = there ? LOAD(k, key * k_stride.z + at * k_stride.w) : (WIDE)0;
            near_values[i / SIZE][at] = there ? LOAD(v, key * v_stride.z + at * v_stride.w) : (WIDE)0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < TILE; j++) {
            if (start + j >= keys || !sees(query, start + j, causal, window))
                continue;
            WIDE score = 0;
            for (int i = 0; i < SIZE; i++)
                score += mine[i] * near_keys[j][i];
            score = capped(score * scale, cap);
            const WIDE higher = fmax(peak, score);
            // As long as nothing but -inf has been seen, exponentials are 0, and not those of -inf minus -inf.
            const WIDE shift = higher == -INFINITY ? (WIDE)0 : higher;
            const WIDE faded = exp(peak - shift), weight = exp(score - shift);
            total = total * faded + weight;
            for (int i = 0; i < SIZE; i++)
                result[i] = result[i] * faded + weight * near_values[j][i];
            peak = higher;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside)
        for (int i = 0; i < size; i++)
            STORE(out, out_at + (head * queries + query) * size + i, result[i] / total);
}
#endif
"""


def _arguments(
    q: torch.Tensor, k: torch.Tensor, causal: bool, scale: float | None, softcap: float | None, window: int | None
) -> tuple[float | int, ...]:
    """Return what the kernels want to know of heads, sizes and masks."""
    heads, queries, size = q.shape[1:]
    factor = 1 / math.sqrt(size) if scale is None else scale
    return heads, heads // k.shape[1], queries, k.shape[2], size, factor, softcap or 0.0, int(causal), window or 0


@implementation("attention", paradigm="opencl")
def naive(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v`` by three kernels, with all scores in memory between them."""
    out = torch.empty(q.shape, dtype=q.dtype)
    if not out.numel():
        return out
    (batch, heads, queries, size), keys = q.shape, k.shape[2]
    served, many = heads // k.shape[1], batch * heads
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    scores, totals = torch.empty((many, queries, keys), dtype=wide), torch.empty((many, queries), dtype=wide)
    described = _arguments(q, k, causal, scale, softcap, window)
    group = [TILE, TILE, 1]
    scored = [q, k, scores, *described, q.stride(), k.stride()]
    launch(_SOURCE, "scored", [keys, queries, many], scored, dtype=q.dtype, group=group)
    launch(_SOURCE, "exponentials", [many * queries], [scores, totals, many * queries, keys], dtype=q.dtype)
    weighted = [scores, totals, v, out, heads, served, queries, keys, size, v.stride()]
    launch(_SOURCE, "weighted", [size, queries, many], weighted, dtype=q.dtype, group=group)
    return out


@implementation("attention", paradigm="opencl", optimizes="naive", technique="online softmax")
def online(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same by one kernel that keeps running maxima and sums in place of scores."""
    out = torch.empty(q.shape, dtype=q.dtype)
    if not out.numel():
        return out
    batch, heads, queries, size = q.shape
    arguments = [q, k, v, out, *_arguments(q, k, causal, scale, softcap, window), q.stride(), k.stride(), v.stride()]
    group = group_size(GROUP)
    # Few sizes of private memory, so that few programs are built.
    definitions = {"GROUP": group, "TILE": TILE, "SIZE": max(16, 1 << (size - 1).bit_length())}
    items = [queries, batch * heads]
    launch(_SOURCE, "online", items, arguments, dtype=q.dtype, group=[group, 1], definitions=definitions)
    return out
