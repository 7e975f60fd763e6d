"""attention in TileLang: a thread for each query, or FlashAttention, a block of threads for some queries of a head.

Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""

from typing import Any

import tilelang.language as T
import torch

from kernels import implementation
from kernels.scaled_dot_product import LOG2_E
from kernels.toolchains.tilelang import THREADS, Program, aligned, compiled, in_grids, wide

_NARROW = ("float16", "bfloat16")

_UNITS = ("shared memory", "matrix unit")

SIZES = (64, 128)
"""Head sizes that tiles are for; a smaller one is filled up with zeros."""

EXACT = (64, 80, 96, 128)
"""Head sizes that models have, for which a form of their own is compiled."""

SIDE = 64
"""Queries and keys of a tile."""

LARGE = 128
"""The same where copies run ahead."""

_STAGES = 2


def _online(dtype: str, longest: int) -> Any:
    heads, each, sq, sk, d = (T.dynamic(name) for name in ("heads", "each", "sq", "sk", "d"))
    accumulator = wide(dtype)

    @T.prim_func
    def attention(
        q: T.Tensor((heads, each, sq, d), dtype),
        k: T.Tensor((heads, sk, d), dtype),
        v: T.Tensor((heads, sk, d), dtype),
        out: T.Tensor((heads, each, sq, d), dtype),
        scale: T.float64,
        softcap: T.float64,
        causal: T.int32,
        window: T.int32,
    ):
        with T.Kernel(T.ceildiv(sq, THREADS), each, heads, threads=THREADS) as (bx, by, bz):
            peak = T.alloc_local((1,), accumulator)
            total = T.alloc_local((1,), accumulator)
            score = T.alloc_local((1,), accumulator)
            higher = T.alloc_local((1,), accumulator)
            fade = T.alloc_local((1,), accumulator)
            result = T.alloc_local((longest,), accumulator)
            for i in T.Parallel(THREADS):
                row = bx * THREADS + i
                if row < sq:
                    peak[0] = -T.infinity(accumulator)
                    total[0] = 0
                    for c in T.serial(d):
                        result[c] = 0
                    for j in T.serial(sk):
                        if ((causal == 0) | (j <= row)) & (j - row < window) & (row - j < window):
                            score[0] = 0
                            for c in T.serial(d):
                                score[0] += T.cast(q[bz, by, row, c], accumulator) * T.cast(k[bz, j, c], accumulator)
                            score[0] = score[0] * T.cast(scale, accumulator)
                            if softcap > 0:
                                cap = T.cast(softcap, accumulator)
                                score[0] = T.tanh(score[0] / cap) * cap
                            higher[0] = T.max(peak[0], score[0])
                            # As long as nothing but -inf was seen, exponentials are 0, not those of -inf minus -inf.
                            if higher[0] == -T.infinity(accumulator):
                                higher[0] = 0
                            fade[0] = T.exp(peak[0] - higher[0])
                            score[0] = T.exp(score[0] - higher[0])
                            peak[0] = higher[0]
                            total[0] = total[0] * fade[0] + score[0]
                            for c in T.serial(d):
                                result[c] = result[c] * fade[0] + score[0] * T.cast(v[bz, j, c], accumulator)
                    for c in T.serial(d):
                        out[bz, by, row, c] = T.cast(result[c] / total[0], dtype)

    return attention


def _flash(dtype: str, size: int) -> Any:
    heads, each, sq, sk, d = (T.dynamic(name) for name in ("heads", "each", "sq", "sk", "d"))

    @T.prim_func
    def attention(
        q: T.Tensor((heads, each, sq, d), dtype),
        k: T.Tensor((heads, sk, d), dtype),
        v: T.Tensor((heads, sk, d), dtype),
        out: T.Tensor((heads, each, sq, d), dtype),
        scale: T.float32,
        softcap: T.float32,
        causal: T.int32,
        window: T.int32,
    ):
        with T.Kernel(T.ceildiv(sq, SIDE), each, heads, threads=THREADS) as (bx, by, bz):
            queries = T.alloc_shared((SIDE, size), dtype)
            keys = T.alloc_shared((SIDE, size), dtype)
            values = T.alloc_shared((SIDE, size), dtype)
            scores = T.alloc_fragment((SIDE, SIDE), "float32")
            weights = T.alloc_fragment((SIDE, SIDE), dtype)
            result = T.alloc_fragment((SIDE, size), "float32")
            peak = T.alloc_fragment((SIDE,), "float32")
            shift = T.alloc_fragment((SIDE,), "float32")
            fade = T.alloc_fragment((SIDE,), "float32")
            partial = T.alloc_fragment((SIDE,), "float32")
            total = T.alloc_fragment((SIDE,), "float32")
            T.copy(q[bz, by, bx * SIDE : (bx + 1) * SIDE, 0:size], queries)
            T.fill(peak, -T.infinity("float32"))
            T.clear(total)
            T.clear(result)
            for step in T.serial(T.ceildiv(sk, SIDE)):
                T.copy(k[bz, step * SIDE : (step + 1) * SIDE, 0:size], keys)
                T.copy(v[bz, step * SIDE : (step + 1) * SIDE, 0:size], values)
                T.clear(scores)
                T.gemm(queries, keys, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(SIDE, SIDE):
                    scores[i, j] = scores[i, j] * scale
                if softcap > 0:
                    for i, j in T.Parallel(SIDE, SIDE):
                        scores[i, j] = T.tanh(scores[i, j] / softcap) * softcap
                for i, j in T.Parallel(SIDE, SIDE):
                    row, column = bx * SIDE + i, step * SIDE + j
                    seen = ((causal == 0) | (column <= row)) & (column - row < window) & (row - column < window)
                    scores[i, j] = T.if_then_else((column < sk) & seen, scores[i, j], -T.infinity("float32"))
                T.copy(peak, fade)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(SIDE):
                    # As long as a row has shown nothing but -inf, its exponentials are 0, not those of -inf minus -inf.
                    shift[i] = T.if_then_else(peak[i] == -T.infinity("float32"), T.float32(0), peak[i])
                    fade[i] = T.exp(fade[i] - shift[i])
                for i, j in T.Parallel(SIDE, SIDE):
                    scores[i, j] = T.exp(scores[i, j] - shift[i])
                T.reduce_sum(scores, partial, dim=1)
                for i in T.Parallel(SIDE):
                    total[i] = total[i] * fade[i] + partial[i]
                for i, j in T.Parallel(SIDE, size):
                    result[i, j] = result[i, j] * fade[i]
                T.copy(scores, weights)
                T.gemm(weights, values, result, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(SIDE, size):
                result[i, j] = result[i, j] / total[i]
            T.copy(result, out[bz, by, bx * SIDE : (bx + 1) * SIDE, 0:size])

    return attention


def _ahead(dtype: str, size: int, causal: bool, skipping: bool) -> Any:
    """Return the same without softcap and window; ``skipping`` leaves out tiles that no query of a block sees."""
    heads, each, sq, sk = (T.dynamic(name) for name in ("heads", "each", "sq", "sk"))

    @T.prim_func
    def attention(
        q: T.Tensor((heads, each, sq, size), dtype),
        k: T.Tensor((heads, sk, size), dtype),
        v: T.Tensor((heads, sk, size), dtype),
        out: T.Tensor((heads, each, sq, size), dtype),
        unit: T.float32,
    ):
        with T.Kernel(T.ceildiv(sq, LARGE), each, heads, threads=2 * THREADS) as (bx, by, bz):
            queries = T.alloc_shared((LARGE, size), dtype)
            keys = T.alloc_shared((LARGE, size), dtype)
            values = T.alloc_shared((LARGE, size), dtype)
            scores = T.alloc_fragment((LARGE, LARGE), "float32")
            weights = T.alloc_fragment((LARGE, LARGE), dtype)
            result = T.alloc_fragment((LARGE, size), "float32")
            peak = T.alloc_fragment((LARGE,), "float32")
            shift = T.alloc_fragment((LARGE,), "float32")
            fade = T.alloc_fragment((LARGE,), "float32")
            partial = T.alloc_fragment((LARGE,), "float32")
            total = T.alloc_fragment((LARGE,), "float32")
            # Causal blocks with the most keys come first, so that none of them is left over at the end.
            block = T.ceildiv(sq, LARGE) - 1 - bx if skipping else bx
            T.copy(q[bz, by, block * LARGE : (block + 1) * LARGE, :], queries)
            T.fill(peak, -T.infinity("float32"))
            T.clear(total)
            T.clear(result)
            steps = T.ceildiv(T.min(sk, (block + 1) * LARGE) if skipping else sk, LARGE)
            for step in T.Pipelined(steps, num_stages=_STAGES):
                T.copy(k[bz, step * LARGE : (step + 1) * LARGE, :], keys)
                T.clear(scores)
                T.gemm(queries, keys, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(LARGE, LARGE):
                    row, column = block * LARGE + i, step * LARGE + j
                    seen = (column < sk) & (column <= row) if causal else column < sk
                    scores[i, j] = T.if_then_else(seen, scores[i, j] * unit, -T.infinity("float32"))
                T.copy(peak, fade)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(LARGE):
                    shift[i] = T.if_then_else(peak[i] == -T.infinity("float32"), T.float32(0), peak[i])
                    fade[i] = T.exp2(fade[i] - shift[i])
                for i, j in T.Parallel(LARGE, LARGE):
                    scores[i, j] = T.exp2(scores[i, j] - shift[i])
                T.reduce_sum(scores, partial, dim=1)
                for i in T.Parallel(LARGE):
                    total[i] = total[i] * fade[i] + partial[i]
                for i, j in T.Parallel(LARGE, size):
                    result[i, j] = result[i, j] * fade[i]
                T.copy(scores, weights)
                T.copy(v[bz, step * LARGE : (step + 1) * LARGE, :], values)
                T.gemm(weights, values, result, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(LARGE, size):
                result[i, j] = result[i, j] / total[i]
            T.copy(result, out[bz, by, block * LARGE : (block + 1) * LARGE, :])

    return attention


_UNBOUNDED = 2**30
"""A window that hides nothing."""


def _launch(
    program: Program,
    form: tuple[Any, ...],
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *numbers: float,
) -> torch.Tensor:
    """Return what ``program``, compiled in ``form``, makes of operands, which are copied first if they are strided.

    It gets them as heads of k and v, for each of which there are one or more of q: (heads, each, length, size).
    """
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel():
        keys, values = (aligned(x).flatten(0, 1) for x in (k, v))
        queries, results = (x.view(keys.shape[0], -1, *x.shape[2:]) for x in (aligned(q), out))
        for operands in in_grids(queries, keys, values, results):
            compiled(program, q, *form)(*operands, *numbers)
    return out


def _scale(q: torch.Tensor, scale: float | None) -> float:
    return q.shape[-1] ** -0.5 if scale is None else scale


@implementation("attention", paradigm="tilelang")
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
    """Return the attention of ``q`` to ``k`` and ``v``: a thread goes along the keys of a query."""
    longest = 1 << max(6, (q.shape[-1] - 1).bit_length())
    numbers = _scale(q, scale), softcap or 0.0, int(causal), window or _UNBOUNDED
    return _launch(_online, (longest,), q, k, v, *numbers)


@implementation(
    "attention", paradigm="tilelang", optimizes="online", technique="online softmax", dtypes=_NARROW, needs=_UNITS
)
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
    """Return the same by matrix units, a tile of queries at a time; heads of more than 128 are left to the above."""
    size = next((size for size in SIZES if q.shape[-1] <= size), None)
    if size is None:
        return online(q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)
    numbers = _scale(q, scale), softcap or 0.0, int(causal), window or _UNBOUNDED
    return _launch(_flash, (size,), q, k, v, *numbers)


def _run_ahead(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
    skipping: bool,
) -> torch.Tensor:
    if q.shape[-1] not in EXACT or softcap or window:
        return flash(q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)
    return _launch(_ahead, (q.shape[-1], causal, causal and skipping), q, k, v, _scale(q, scale) * LOG2_E)


@implementation(
    "attention",
    paradigm="tilelang",
    optimizes="flash",
    technique="software pipelining, exp2",
    dtypes=_NARROW,
    needs=(*_UNITS, "bulk copies"),
)
def pipelined(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same: the next keys are on their way meanwhile; what models seldom have is left to the above."""
    return _run_ahead(q, k, v, causal, scale, softcap, window, skipping=False)


@implementation(
    "attention",
    paradigm="tilelang",
    optimizes="pipelined",
    technique="causal skipping",
    dtypes=_NARROW,
    needs=(*_UNITS, "bulk copies"),
)
def skipping(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same without tiles of keys that all come after the queries."""
    return _run_ahead(q, k, v, causal, scale, softcap, window, skipping=True)
