"""decode_attention in Triton: a program for the heads of one sequence that share a head of the caches.

They are rows of one tile, so that matrix units have something to do and a cache is read once for all of them. Caches
may be whole or in pages: a key's place is looked up in a table then. They may be int8, with a scale for each vector.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.scaled_dot_product import LOG2_E
from kernels.toolchains.triton import weighed, wide

PARTS = 16
"""The most parts that the keys of a sequence are split into."""

_KEYS = {torch.float64: 16, torch.float32: 32, torch.float16: 64, torch.bfloat16: 64}
"""Keys that a program holds at a time."""


@triton.jit
def _decode(
    q, k, v, k_scale, v_scale, table, lengths, out, peaks, totals, batches, heads, shared_heads, parts, span, size,
    q0, q1, q2, k0, k1, k2, k3, v0, v1, v2, v3, ks0, ks1, ks2, vs0, vs1, vs2, table0, table1, lengths0,
    SCALE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr,
    SCALED: tl.constexpr, SPLIT: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write what ``span`` keys of one sequence give: the result (B, H, D), or if SPLIT a part of it (parts, B, H, D).

    With a PAGE of 0 a cache's first axis is the sequence, else the page.
    """
    part, which = tl.program_id(0) % parts, (tl.program_id(0) // parts).to(tl.int64)
    batch, shared = which // shared_heads, which % shared_heads
    groups = heads // shared_heads
    group, inner = tl.arange(0, M)[:, None], tl.arange(0, D).to(tl.int64)
    head = shared * groups + group
    inside = (group < groups) & (inner[None, :] < size)
    left = tl.load(q + batch * q0 + head * q1 + inner[None, :] * q2, mask=inside, other=0.0)
    peak = tl.full((M, 1), float("-inf"), WIDE)
    total = tl.zeros((M, 1), WIDE)
    result = tl.zeros((M, D), WIDE)
    keys = tl.load(lengths + batch * lengths0)
    for start in range(part * span, tl.minimum(keys, part * span + span), N):
        column = start + tl.arange(0, N)
        cached = column < keys
        read = cached[:, None] & (inner[None, :] < size)
        if PAGE:
            entry = tl.load(table + batch * table0 + (column // PAGE) * table1, mask=cached, other=0).to(tl.int64)
            slot = (column % PAGE).to(tl.int64)
        else:
            entry, slot = batch, column.to(tl.int64)
        at_key, at_value = entry * k0 + slot * k2, entry * v0 + slot * v2
        right = tl.load(k + shared * k1 + at_key[:, None] + inner[None, :] * k3, mask=read, other=0)
        scores = tl.dot(left, tl.trans(right.to(left.dtype)), input_precision="ieee", out_dtype=WIDE) * SCALE
        if SCALED:
            scores *= tl.load(k_scale + entry * ks0 + shared * ks1 + slot * ks2, mask=cached, other=0.0)[None, :]
        scores = tl.where(cached[None, :], scores, float("-inf"))
        weights, faded, peak, total = weighed(scores, peak, total, 1.0, True)
        block = tl.load(v + shared * v1 + at_value[:, None] + inner[None, :] * v3, mask=read, other=0)
        if SCALED:
            each = tl.load(v_scale + entry * vs0 + shared * vs1 + slot * vs2, mask=cached, other=0.0)
            block = (block.to(WIDE) * each[:, None]).to(left.dtype)
        result = tl.dot(weights.to(block.dtype), block, result * faded, input_precision="ieee", out_dtype=WIDE)
    row = batch * heads + head
    if SPLIT:
        row += part.to(tl.int64) * batches * heads
        tl.store(out + row * size + inner[None, :], result, mask=inside)
        tl.store(peaks + row, peak, mask=group < groups)
        tl.store(totals + row, total, mask=group < groups)
    else:
        tl.store(out + row * size + inner[None, :], result / total, mask=inside)


@triton.jit
def _joined(partial, peaks, totals, out, rows, parts, size, PARTS: tl.constexpr, D: tl.constexpr):
    """Write one row of ``out`` from its parts, each relative to the largest score of its own."""
    row, part = tl.program_id(0).to(tl.int64), tl.arange(0, PARTS)
    inner, place = tl.arange(0, D)[None, :], row + part.to(tl.int64) * rows
    peak = tl.load(peaks + place, mask=part < parts, other=float("-inf"))
    highest = tl.max(peak, 0)
    weights = tl.exp2(peak - tl.where(highest == float("-inf"), 0.0, highest))
    total = tl.sum(weights * tl.load(totals + place, mask=part < parts, other=0.0), 0)
    inside = (part < parts)[:, None] & (inner < size)
    block = tl.load(partial + place[:, None] * size + inner, mask=inside, other=0.0)
    result = tl.sum(weights[:, None] * block, 0, keep_dims=True) / total
    tl.store(out + row * size + inner, result, mask=inner < size)


def decode(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float | None,
    *,
    split: bool,
    table: torch.Tensor | None = None,
    scales: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> torch.Tensor:
    """Return the attention of ``q`` (B, H, D) to caches (B, HK, S, D), or with a ``table`` (B, slots) to (P, HK, page,
    D), in one pass or split into parts that are joined by a second kernel. Caches of int8 come with ``scales`` of their
    vectors, of the same shape without D.
    """
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    batches, heads, size = q.shape
    shared, page = k.shape[1], 0 if table is None else k.shape[2]
    capacity = k.shape[2] if table is None else table.shape[1] * page
    keys, depth = _KEYS[q.dtype], max(16, triton.next_power_of_2(size))
    span = keys * max(1, triton.cdiv(capacity, keys * (PARTS if split else 1)))
    parts = max(1, triton.cdiv(capacity, span))
    precise = torch.float64 if q.dtype == torch.float64 else torch.float32
    partial, peaks, totals = out, out, out
    if split:
        partial = torch.empty((parts, *q.shape), dtype=precise, device=q.device)
        peaks, totals = (torch.empty((parts, batches, heads), dtype=precise, device=q.device) for _ in range(2))
    k_scale, v_scale = scales or (q, q)
    _decode[(parts * batches * shared,)](
        q, k, v, k_scale, v_scale, lengths if table is None else table, lengths, partial, peaks, totals,
        batches, heads, shared, parts, span, size,
        *q.stride(), *k.stride(), *v.stride(), *k_scale.stride(), *v_scale.stride(),
        *((0, 0) if table is None else table.stride()), lengths.stride(0),
        SCALE=(size**-0.5 if scale is None else scale) * LOG2_E,
        M=max(16, triton.next_power_of_2(heads // shared)), N=keys, D=depth, PAGE=page,
        SCALED=scales is not None, SPLIT=split, WIDE=wide(q.dtype), num_stages=2,
    )  # fmt: skip
    if split:
        rows = batches * heads
        _joined[(rows,)](partial, peaks, totals, out, rows, parts, size, PARTS=PARTS, D=depth)
    return out


@implementation("decode_attention", paradigm="triton")
def one_pass(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, *, scale: float | None
) -> torch.Tensor:
    """Return the attention of each query to what is cached: one program goes along all keys of a sequence."""
    return decode(q, k_cache, v_cache, lengths, scale, split=False)


@implementation("decode_attention", paradigm="triton", optimizes="one_pass", technique="split-KV")
def split_kv(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, *, scale: float | None
) -> torch.Tensor:
    """Return the same by several programs a sequence, so that few sequences with many keys fill a device too."""
    return decode(q, k_cache, v_cache, lengths, scale, split=True)
