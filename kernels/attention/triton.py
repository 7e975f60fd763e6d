"""attention in Triton: matrix by matrix, or FlashAttention's forward pass, a program for some queries of one head.

Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022; that keys
nobody sees are skipped and masks kept to the border, Dao, "FlashAttention-2", ICLR 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from golden.case import Case
from kernels import implementation
from kernels.scaled_dot_product import LOG2_E
from kernels.softmax.triton import three_pass
from kernels.toolchains.triton import tanh, weighed, wide, wide_in_torch
from kernels.toolchains.triton_products import describable

Shape = tuple[int, int, int, int]
"""Queries and keys that a program holds at a time, its warps, and the stages of its pipeline."""

_TILES: dict[torch.dtype, Shape] = {
    torch.float64: (16, 16, 4, 2),
    torch.float32: (32, 32, 4, 2),
    torch.float16: (64, 64, 4, 2),
    torch.bfloat16: (64, 64, 4, 2),
}

LARGE: dict[int, Shape] = {64: (128, 64, 8, 3), 128: (128, 128, 8, 2), 256: (128, 64, 8, 2)}
"""The same for heads of up to so many elements of 16 bits, where a multiprocessor has 227 KiB of shared memory.

Two programs fit on one with heads of 64, so that one exponentiates while the other multiplies.
"""

SMALL: dict[int, Shape] = {64: (128, 64, 4, 3), 128: (64, 64, 4, 3)}
"""Shapes of which several programs fit on such a multiprocessor, so that one exponentiates while others multiply."""

_NARROW = ("float16", "bfloat16")


@triton.jit
def _scores(left, right, SCALE: tl.constexpr, CAP: tl.constexpr, AFTER: tl.constexpr, WIDE: tl.constexpr):
    """Return a tile of scores: times SCALE, capped by CAP unless that is 0, times AFTER."""
    scores = tl.dot(left, right, input_precision="ieee", out_dtype=WIDE)
    if CAP != 0.0:
        return tanh(scores * SCALE / CAP) * CAP * AFTER
    return scores * SCALE * AFTER


@triton.jit
def _masked(
    scores, row, column, keys, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr
):  # fmt: skip
    """Return ``scores`` with -inf where the query of ``row`` does not see the key of ``column``."""
    seen = column < keys
    if CAUSAL:
        seen = seen & (column <= row)
    if WINDOWED:
        seen = seen & (column - row < window) & (row - column < window)
    return tl.where(seen, scores, float("-inf"))


@triton.jit
def _bounds(
    top, keys, window, M: tl.constexpr, N: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Return begin, low, high, end: queries ``top`` to ``top + M - 1`` see keys from begin to end, and all of them
    those from low to high, which no mask is needed for. With nothing to SKIP these are all keys, and with nothing to
    SPLIT off there are none between low and high.
    """
    begin, low, high, end = 0, 0, keys // N * N, keys
    if CAUSAL:
        high = tl.minimum(high, (top + 1) // N * N)
        end = tl.minimum(end, top + M)
    if WINDOWED:
        begin = tl.maximum(top - window + 1, 0) // N * N
        low = tl.cdiv(tl.maximum(top + M - window, 0), N) * N
        high = tl.minimum(high, (top + window) // N * N)
        end = tl.minimum(end, top + M + window - 1)
    if not SKIP:
        begin, end = 0, keys
    if not SPLIT:
        low, high = begin, begin
    low = tl.minimum(low, end)
    return begin, low, tl.maximum(high, low), end


@triton.jit
def _tile(
    x, batch, head, start, keys, size, x0, x1, x2, x3,
    N: tl.constexpr, D: tl.constexpr, WHOLE: tl.constexpr, MASKED: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Return ``N`` keys or values of one head from ``start`` on: MASKED where there may be fewer, WHOLE where heads
    fill the tile; zeros beyond. A descriptor knows all of that by itself.
    """
    if DESCRIBED:
        tile = x.load([batch, head, start, 0]).reshape(N, D)
    else:
        across, inner = tl.arange(0, N)[:, None], tl.arange(0, D).to(tl.int64)[None, :]
        base = x + batch.to(tl.int64) * x0 + head.to(tl.int64) * x1 + tl.cast(start, tl.int64) * x2
        at = base + (across.to(tl.int64) * x2 + inner * x3)
        if MASKED:
            tile = tl.load(at, mask=(start + across < keys) & (inner < size), other=0.0)
        elif WHOLE:
            tile = tl.load(at)
        else:
            tile = tl.load(at, mask=inner < size, other=0.0)
    return tile


@triton.jit
def _attended(
    left, k, v, batch, shared, begin, end, row, keys, window, size, k0, k1, k2, k3, v0, v1, v2, v3,
    peak, total, result,
    SCALE: tl.constexpr, CAP: tl.constexpr, AFTER: tl.constexpr, FOLD: tl.constexpr,
    N: tl.constexpr, D: tl.constexpr, WHOLE: tl.constexpr, MASKED: tl.constexpr, DESCRIBED: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, BINARY: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Return the running softmax and result after keys from ``begin`` to ``end``."""
    for start in range(begin, end, N):
        right = _tile(k, batch, shared, start, keys, size, k0, k1, k2, k3, N, D, WHOLE, MASKED, DESCRIBED)
        scores = _scores(left, tl.trans(right), 1.0 if FOLD else SCALE, CAP, 1.0 if FOLD else AFTER, WIDE)
        if MASKED:
            column = start + tl.arange(0, N)[None, :]
            scores = _masked(scores, row, column, keys, window, CAUSAL, WINDOWED)
        weights, faded, peak, total = weighed(scores, peak, total, SCALE * AFTER if FOLD else 1.0, BINARY)
        block = _tile(v, batch, shared, start, keys, size, v0, v1, v2, v3, N, D, WHOLE, MASKED, DESCRIBED)
        result = tl.dot(weights.to(block.dtype), block, result * faded, input_precision="ieee", out_dtype=WIDE)
    return peak, total, result


@triton.jit
def _flash(
    q, k, v, out, heads, groups, queries, keys, size, window,
    q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    SCALE: tl.constexpr, CAP: tl.constexpr, AFTER: tl.constexpr, FOLD: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, WHOLE: tl.constexpr, DESCRIBED: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, SKIP: tl.constexpr, SPLIT: tl.constexpr,
    BINARY: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(queries, M)
    head = tl.program_id(0) // tiles
    batch, shared = head // heads, head % heads // groups
    # The later queries are, the more keys they see: the longest programs first, so that no long one starts last.
    top = (tiles - 1 - tl.program_id(0) % tiles) * M
    row = top + tl.arange(0, M)[:, None]
    rows, depth = row.to(tl.int64), tl.arange(0, D).to(tl.int64)[None, :]
    inside = (row < queries) & (depth < size)
    first = q + batch.to(tl.int64) * q0 + (head % heads).to(tl.int64) * q1
    left = tl.load(first + (rows * q2 + depth * q3), mask=inside, other=0.0)
    peak = tl.full((M, 1), float("-inf"), WIDE)
    total = tl.zeros((M, 1), WIDE)
    result = tl.zeros((M, D), WIDE)
    begin, low, high, end = _bounds(top, keys, window, M, N, CAUSAL, WINDOWED, SKIP, SPLIT)
    if SPLIT:
        if WINDOWED:
            peak, total, result = _attended(
                left, k, v, batch, shared, begin, low, row, keys, window, size, k0, k1, k2, k3, v0, v1, v2, v3,
                peak, total, result,
                SCALE, CAP, AFTER, FOLD, N, D, WHOLE, True, DESCRIBED, CAUSAL, WINDOWED, BINARY, WIDE,
            )  # fmt: skip
        peak, total, result = _attended(
            left, k, v, batch, shared, low, high, row, keys, window, size, k0, k1, k2, k3, v0, v1, v2, v3,
            peak, total, result,
            SCALE, CAP, AFTER, FOLD, N, D, WHOLE, False, DESCRIBED, CAUSAL, WINDOWED, BINARY, WIDE,
        )  # fmt: skip
    peak, total, result = _attended(
        left, k, v, batch, shared, high, end, row, keys, window, size, k0, k1, k2, k3, v0, v1, v2, v3,
        peak, total, result,
        SCALE, CAP, AFTER, FOLD, N, D, WHOLE, True, DESCRIBED, CAUSAL, WINDOWED, BINARY, WIDE,
    )  # fmt: skip
    target = out + head.to(tl.int64) * queries * size + (rows * size + depth)
    tl.store(target, result / total, mask=inside)


@triton.jit
def _scored(
    q, k, out, heads, groups, queries, keys, size, window, q0, q1, q2, q3, k0, k1, k2, k3,
    SCALE: tl.constexpr, CAP: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile of all scores (batch, heads, queries, keys)."""
    down, across = tl.cdiv(queries, M), tl.cdiv(keys, N)
    head, tile = tl.program_id(0) // (down * across), tl.program_id(0) % (down * across)
    top, start = tile // across * M, tile % across * N
    left = _tile(q, head // heads, head % heads, top, queries, size, q0, q1, q2, q3, M, D, False, True, False)
    shared = head % heads // groups
    right = _tile(k, head // heads, shared, start, keys, size, k0, k1, k2, k3, N, D, False, True, False)
    row, column = top + tl.arange(0, M)[:, None], start + tl.arange(0, N)[None, :]
    scores = _scores(left, tl.trans(right), SCALE, CAP, 1.0, WIDE)
    scores = _masked(scores, row, column, keys, window, CAUSAL, WINDOWED)
    target = out + (head.to(tl.int64) * queries + row) * keys + column
    tl.store(target, scores, mask=(row < queries) & (column < keys))


@triton.jit
def _averaged(
    weights, v, out, heads, groups, queries, keys, size, v0, v1, v2, v3,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write some queries of one head: the values, times ``weights`` (batch, heads, queries, keys)."""
    tiles = tl.cdiv(queries, M)
    head, top = tl.program_id(0) // tiles, tl.program_id(0) % tiles * M
    row, depth = top + tl.arange(0, M)[:, None], tl.arange(0, D)[None, :]
    rows = head.to(tl.int64) * queries + row
    shared = head % heads // groups
    result = tl.zeros((M, D), WIDE)
    for start in range(0, keys, N):
        column = start + tl.arange(0, N)[None, :]
        left = tl.load(weights + rows * keys + column, mask=(row < queries) & (column < keys), other=0.0)
        block = _tile(v, head // heads, shared, start, keys, size, v0, v1, v2, v3, N, D, False, True, False)
        result = tl.dot(left.to(block.dtype), block, result, input_precision="ieee", out_dtype=WIDE)
    tl.store(out + rows * size + depth, result, mask=(row < queries) & (depth < size))


def _arithmetic(size: int, scale: float | None, softcap: float | None, *, binary: bool) -> dict[str, Any]:
    """Return what scores are multiplied by and capped with, as a kernel's arguments."""
    return {
        "SCALE": size**-0.5 if scale is None else scale,
        "CAP": softcap or 0.0,
        "AFTER": LOG2_E if binary else 1.0,
        "BINARY": binary,
    }


def launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
    *,
    binary: bool = True,
    skip: bool = True,
    split: bool = True,
    fold: bool = True,
    shape: Shape | None = None,
    described: bool = False,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v`` by one kernel, with what the rungs of the ladder add to it.

    Powers of two where ``binary``; with ``skip`` without tiles that nobody sees; with ``split`` without masks where all
    is seen; with ``fold`` a positive scale is multiplied in where the maximum is subtracted. ``shape`` is that of a
    program, and ``described`` keys and values (:func:`describable` ones) are fetched by tensor descriptors.
    """
    batch, heads, queries, size = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    depth = max(16, triton.next_power_of_2(size))
    m, n, warps, stages = shape or _TILES[q.dtype]
    arithmetic = _arithmetic(size, scale, softcap, binary=binary)
    tensors = [TensorDescriptor.from_tensor(x, [1, 1, n, depth]) for x in (k, v)] if described else (k, v)
    _flash[(triton.cdiv(queries, m) * batch * heads,)](
        q, *tensors, out, heads, heads // k.shape[1], queries, k.shape[2], size, window or 0,
        *q.stride(), *k.stride(), *v.stride(),
        **arithmetic, FOLD=fold and softcap is None and arithmetic["SCALE"] > 0,
        M=m, N=n, D=depth, WHOLE=size == depth, DESCRIBED=described,
        CAUSAL=causal, WINDOWED=window is not None, SKIP=skip, SPLIT=split,
        WIDE=wide(q.dtype), num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return out


@implementation("attention", paradigm="triton")
def unfused(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v`` by a launch for all scores, their softmax, and a product."""
    batch, heads, queries, size = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    m, n, warps, _ = _TILES[q.dtype]
    keys, groups = k.shape[2], heads // k.shape[1]
    arithmetic = _arithmetic(size, scale, softcap, binary=False)
    tiles = {"M": m, "N": n, "D": max(16, triton.next_power_of_2(size)), "WIDE": wide(q.dtype), "num_warps": warps}
    scores = torch.empty((batch, heads, queries, keys), dtype=wide_in_torch(q.dtype), device=q.device)
    rows = batch * heads * triton.cdiv(queries, m)
    _scored[(rows * triton.cdiv(keys, n),)](
        q, k, scores, heads, groups, queries, keys, size, window or 0, *q.stride(), *k.stride(),
        SCALE=arithmetic["SCALE"], CAP=arithmetic["CAP"], CAUSAL=causal, WINDOWED=window is not None, **tiles,
    )  # fmt: skip
    weights = three_pass(scores, dim=-1)
    _averaged[(rows,)](weights, v, out, heads, groups, queries, keys, size, *v.stride(), **tiles)
    return out


@implementation("attention", paradigm="triton", optimizes="unfused", technique="online softmax")
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
    return launch(q, k, v, causal, scale, softcap, window, binary=False, skip=False, split=False, fold=False)


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
    """Return the same by powers of two, which hardware has: log2 e goes into the scale, and that into the exponent."""
    return launch(q, k, v, causal, scale, softcap, window, skip=False, split=False)


@implementation("attention", paradigm="triton", optimizes="flash_exp2", technique="causal skipping")
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
    """Return the same from the keys that some query of a program sees; tiles beyond the diagonal are not read."""
    return launch(q, k, v, causal, scale, softcap, window, split=False)


@implementation("attention", paradigm="triton", optimizes="skipping", technique="masks on border tiles only")
def border(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same with tiles of keys that all queries of a program see in a loop of their own, without masks."""
    return launch(q, k, v, causal, scale, softcap, window)


def _long_heads(case: Case) -> str:
    return f"written for heads of {max(LARGE)} elements at most" if case.dims["d"] > max(LARGE) else ""


@implementation(
    "attention",
    paradigm="triton",
    optimizes="border",
    technique="tiles that fill shared memory",
    dtypes=_NARROW,
    refuses=_long_heads,
)
def large(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same by programs that hold 128 queries, more warps and more stages.

    Where the elements of a head do not lie side by side, it is ``border``: Triton 3.6 compiles such a program for sm_90
    so that it reads memory that is not its own.
    """
    side_by_side = k.stride(-1) == 1 and v.stride(-1) == 1
    return launch(q, k, v, causal, scale, softcap, window, shape=_fitting(LARGE, q) if side_by_side else None)


@implementation(
    "attention",
    paradigm="triton",
    optimizes="large",
    technique="tensor descriptors",
    dtypes=_NARROW,
    refuses=_long_heads,
)
def described(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same; keys and values, copied first if they lie otherwise, are fetched by tensor descriptors."""
    shape = _fitting(LARGE, q)
    return launch(q, describable(k), describable(v), causal, scale, softcap, window, shape=shape, described=True)


@implementation(
    "attention",
    paradigm="triton",
    optimizes="described",
    technique="several programs a multiprocessor",
    dtypes=_NARROW,
    refuses=_long_heads,
)
def small(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same by programs so small that one exponentiates while another multiplies.

    Warps of one program meet at barriers, and so exponentiate at the same time. Heads of more than 128 elements leave
    no room for several programs; they are those of ``described``.
    """
    if q.shape[-1] > max(SMALL):
        return described(q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)
    shape = _fitting(SMALL, q)
    return launch(q, describable(k), describable(v), causal, scale, softcap, window, shape=shape, described=True)


def _fitting(shapes: Mapping[int, Shape], q: torch.Tensor) -> Shape:
    """Return the shape for heads as ``q`` has."""
    return next(shape for size, shape in shapes.items() if q.shape[-1] <= size)
