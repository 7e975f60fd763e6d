"""attention_backward in Triton: FlashAttention's backward pass, which computes P anew tile by tile.

Three kernels: one goes along the keys of some queries for what a row of P and dS needs as a whole, one again for dq,
and one along the queries of some keys for dk and dv. So no two programs add to the same element.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import tanh, weighed, wide

_TILES = {torch.float64: 16, torch.float32: 16, torch.float16: 64, torch.bfloat16: 64}
"""Queries, and keys, that a program holds at a time."""


@triton.jit
def _rows(x, head, row, length, size, x0, x1, x2, x3, heads, D: tl.constexpr):
    """Return rows of one of all heads (batch * heads), zeros beyond its ``length`` and ``size``."""
    inner = tl.arange(0, D).to(tl.int64)[None, :]
    at = x + head // heads * x0 + head % heads * x1 + row.to(tl.int64)[:, None] * x2 + inner * x3
    return tl.load(at, mask=(row < length)[:, None] & (inner < size), other=0.0)


@triton.jit
def _scored(
    left, right, row, column, keys, window,
    SCALE: tl.constexpr, CAP: tl.constexpr, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Return the scores of a tile times log2 e, -inf where nothing is seen, and the slope of their cap."""
    scores = tl.dot(left, tl.trans(right), input_precision="ieee", out_dtype=WIDE) * SCALE
    slope = tl.full(scores.shape, 1.0, WIDE)
    if CAP != 0.0:
        share = tanh(scores / CAP)
        scores, slope = share * CAP, 1.0 - share * share
    seen = (column < keys)[None, :]
    if CAUSAL:
        seen = seen & (column[None, :] <= row[:, None])
    if WINDOWED:
        seen = seen & (column[None, :] - row[:, None] < window) & (row[:, None] - column[None, :] < window)
    return tl.where(seen, scores * 1.4426950408889634, float("-inf")), slope


@triton.jit
def _seen_keys(
    top, keys, window, TILE: tl.constexpr, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr
):  # fmt: skip
    """Return from where to where queries from ``top`` on see keys; with nothing to SKIP these are all."""
    begin, end = 0, keys
    if SKIP:
        if CAUSAL:
            end = tl.minimum(end, top + TILE)
        if WINDOWED:
            begin = tl.maximum(top - window + 1, 0) // TILE * TILE
            end = tl.minimum(end, top + TILE + window - 1)
    return begin, end


@triton.jit
def _statistics(
    grad, q, k, v, logs, deltas, heads, shared_heads, queries, keys, size, window,
    g0, g1, g2, g3, q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    SCALE: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write, for some queries, the binary logarithm of what their powers sum to, and rowsum(P dP)."""
    tiles = tl.cdiv(queries, TILE)
    head, top = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles * TILE
    shared = head // (heads // shared_heads)
    row = top + tl.arange(0, TILE)
    left = _rows(q, head, row, queries, size, q0, q1, q2, q3, heads, D)
    slopes = _rows(grad, head, row, queries, size, g0, g1, g2, g3, heads, D)
    peak = tl.full((TILE, 1), float("-inf"), WIDE)
    total = tl.zeros((TILE, 1), WIDE)
    delta = tl.zeros((TILE, 1), WIDE)
    begin, end = _seen_keys(top, keys, window, TILE, CAUSAL, WINDOWED, SKIP)
    for start in range(begin, end, TILE):
        column = start + tl.arange(0, TILE)
        right = _rows(k, shared, column, keys, size, k0, k1, k2, k3, shared_heads, D)
        scores, _ = _scored(left, right, row, column, keys, window, SCALE, CAP, CAUSAL, WINDOWED, WIDE)
        weights, faded, peak, total = weighed(scores, peak, total, 1.0, True)
        block = _rows(v, shared, column, keys, size, v0, v1, v2, v3, shared_heads, D)
        product = tl.dot(slopes, tl.trans(block), input_precision="ieee", out_dtype=WIDE)
        delta = delta * faded + tl.sum(weights * product, 1, keep_dims=True)
    # A query that has seen nothing gets an infinite sum, so that its share of everything is 0.
    nothing = total == 0.0
    place, inside = head * queries + row[:, None], row[:, None] < queries
    tl.store(logs + place, tl.where(nothing, float("inf"), peak + tl.log2(total)), mask=inside)
    tl.store(deltas + place, tl.where(nothing, 0.0, delta / total), mask=inside)


@triton.jit
def _of_queries(
    grad, q, k, v, logs, deltas, dq, heads, shared_heads, queries, keys, size, window,
    g0, g1, g2, g3, q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    SCALE: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write dq of some queries."""
    tiles = tl.cdiv(queries, TILE)
    head, top = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles * TILE
    shared = head // (heads // shared_heads)
    row = top + tl.arange(0, TILE)
    left = _rows(q, head, row, queries, size, q0, q1, q2, q3, heads, D)
    slopes = _rows(grad, head, row, queries, size, g0, g1, g2, g3, heads, D)
    place, inside = head * queries + row[:, None], row[:, None] < queries
    log = tl.load(logs + place, mask=inside, other=float("inf"))
    delta = tl.load(deltas + place, mask=inside, other=0.0)
    result = tl.zeros((TILE, D), WIDE)
    begin, end = _seen_keys(top, keys, window, TILE, CAUSAL, WINDOWED, SKIP)
    for start in range(begin, end, TILE):
        column = start + tl.arange(0, TILE)
        right = _rows(k, shared, column, keys, size, k0, k1, k2, k3, shared_heads, D)
        block = _rows(v, shared, column, keys, size, v0, v1, v2, v3, shared_heads, D)
        scores, slope = _scored(left, right, row, column, keys, window, SCALE, CAP, CAUSAL, WINDOWED, WIDE)
        product = tl.dot(slopes, tl.trans(block), input_precision="ieee", out_dtype=WIDE)
        ds = tl.exp2(scores - log) * (product - delta) * slope
        result = tl.dot(ds.to(right.dtype), right, result, input_precision="ieee", out_dtype=WIDE)
    inner = tl.arange(0, D).to(tl.int64)[None, :]
    tl.store(dq + place * size + inner, result * SCALE, mask=inside & (inner < size))


@triton.jit
def _of_keys(
    grad, q, k, v, logs, deltas, dk, dv, heads, shared_heads, queries, keys, size, window,
    g0, g1, g2, g3, q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    SCALE: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write dk and dv of some keys, over all the heads that they serve."""
    tiles = tl.cdiv(keys, TILE)
    shared, left_most = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles * TILE
    column = left_most + tl.arange(0, TILE)
    right = _rows(k, shared, column, keys, size, k0, k1, k2, k3, shared_heads, D)
    block = _rows(v, shared, column, keys, size, v0, v1, v2, v3, shared_heads, D)
    of_keys = tl.zeros((TILE, D), WIDE)
    of_values = tl.zeros((TILE, D), WIDE)
    begin, end = 0, queries
    if SKIP:
        if CAUSAL:
            begin = left_most
        if WINDOWED:
            begin = tl.maximum(begin, tl.maximum(left_most - window + 1, 0) // TILE * TILE)
            end = tl.minimum(end, left_most + TILE + window - 1)
    groups = heads // shared_heads
    for group in range(0, groups):
        head = shared * groups + group
        for start in range(begin, end, TILE):
            row = start + tl.arange(0, TILE)
            left = _rows(q, head, row, queries, size, q0, q1, q2, q3, heads, D)
            slopes = _rows(grad, head, row, queries, size, g0, g1, g2, g3, heads, D)
            place, inside = head * queries + row[:, None], row[:, None] < queries
            log = tl.load(logs + place, mask=inside, other=float("inf"))
            delta = tl.load(deltas + place, mask=inside, other=0.0)
            scores, slope = _scored(left, right, row, column, keys, window, SCALE, CAP, CAUSAL, WINDOWED, WIDE)
            p = tl.exp2(scores - log)
            of_values = tl.dot(tl.trans(p.to(slopes.dtype)), slopes, of_values, input_precision="ieee", out_dtype=WIDE)
            product = tl.dot(slopes, tl.trans(block), input_precision="ieee", out_dtype=WIDE)
            ds = p * (product - delta) * slope
            of_keys = tl.dot(tl.trans(ds.to(left.dtype)), left, of_keys, input_precision="ieee", out_dtype=WIDE)
    inner = tl.arange(0, D).to(tl.int64)[None, :]
    place = (shared * keys + column[:, None]) * size + inner
    inside = (column[:, None] < keys) & (inner < size)
    tl.store(dk + place, of_keys * SCALE, mask=inside)
    tl.store(dv + place, of_values, mask=inside)


def _launch(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
    *,
    skip: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    batch, heads, queries, size = q.shape
    _, shared, keys, _ = k.shape
    if not k.numel():
        return dq, dk, dv
    tile = _TILES[q.dtype]
    precise = torch.float64 if q.dtype == torch.float64 else torch.float32
    logs, deltas = (torch.empty((batch, heads, queries), dtype=precise, device=q.device) for _ in range(2))
    strides = *grad.stride(), *q.stride(), *k.stride(), *v.stride()
    options: dict[str, Any] = {
        "SCALE": size**-0.5 if scale is None else scale,
        "CAP": softcap or 0.0,
        "TILE": tile,
        "D": max(16, triton.next_power_of_2(size)),
        "CAUSAL": causal,
        "WINDOWED": window is not None,
        "SKIP": skip,
        "WIDE": wide(q.dtype),
        "num_stages": 2,
        "num_warps": 8 if tile == max(_TILES.values()) else 4,
    }
    sizes = heads, shared, queries, keys, size, window or 0
    if queries:
        grid = (batch * heads * triton.cdiv(queries, tile),)
        _statistics[grid](grad, q, k, v, logs, deltas, *sizes, *strides, **options)
        _of_queries[grid](grad, q, k, v, logs, deltas, dq, *sizes, *strides, **options)
    grid = (batch * shared * triton.cdiv(keys, tile),)
    _of_keys[grid](grad, q, k, v, logs, deltas, dk, dv, *sizes, *strides, **options)
    return dq, dk, dv


@implementation("attention_backward", paradigm="triton")
def flash(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``q``, ``k`` and ``v`` without a whole matrix of scores."""
    return _launch(grad, q, k, v, causal, scale, softcap, window, skip=False)


@implementation("attention_backward", paradigm="triton", optimizes="flash", technique="causal skipping")
def skipping(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the same from the tiles in which some query sees some key."""
    return _launch(grad, q, k, v, causal, scale, softcap, window, skip=True)
