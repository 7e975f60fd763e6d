"""attention in NineToothed: FlashAttention's forward pass, a program for some queries of one head.

Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022. Heads that
share keys and values are an axis of their own, along which these are expanded: nothing is repeated in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Symbol, Tensor

from kernels import implementation
from kernels.scaled_dot_product import LOG2_E
from kernels.toolchains.ninetoothed import near, parts, power_of_2, wide

_M, _N, _D = (Symbol(name, constexpr=True) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_D"))

_CONSTANTS = 6
"""What follows the tensors: scale, softcap (0: none), causal, window (0: none), unit of exponents, and dtype."""

_SMALL, _LARGE = (16, 16), (64, 64)
"""Queries and keys that a program holds at a time: in wide types and in narrow ones."""


def arrangement(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, *constants: Tensor, m: Any = _M, n: Any = _N, d: Any = _D
) -> tuple[Tensor, ...]:
    """Return tiles of queries and results, each with the tiles of all keys and values of its head.

    Tensors are (batches, heads of k, heads of q for each, length, size).
    """
    queries, results = (_in_tiles(tensor, m, d) for tensor in (q, out))
    return queries, _along(k, n, d, queries), _along(v, n, d, queries), results, *constants


def _in_tiles(tensor: Tensor, rows: Any, columns: Any) -> Tensor:
    tiles = tensor.tile((1, 1, 1, rows, columns))
    tiles.dtype = tiles.dtype.squeeze((0, 1, 2))
    return tiles


def _along(tensor: Tensor, n: Any, d: Any, queries: Tensor) -> Tensor:
    along = tensor.tile((1, 1, 1, n, d)).tile((1, 1, 1, -1, 1)).expand((-1, -1, -1, queries.shape[3], -1))
    along.dtype = along.dtype.squeeze((0, 1, 2, 4))
    along.dtype.dtype = along.dtype.dtype.squeeze((0, 1, 2))
    return along


def flash(q, k, v, out, scale, softcap, causal, window, unit, dtype):
    query = q
    row = q.offsets(3)[:, None]
    peak = ntl.full((q.shape[0], 1), float("-inf"), dtype)
    total = ntl.zeros((q.shape[0], 1), dtype)
    result = ntl.zeros(q.shape, dtype)
    for i in range(k.shape[0]):
        key = k[i]
        value = v[i]
        column = k[i].offsets(3)[None, :]
        scores = ntl.dot(query, ntl.trans(key), input_precision="ieee", out_dtype=dtype) * scale
        if softcap != 0.0:
            # The hyperbolic tangent by exponentials, which cancel near 0, where a continued fraction does not.
            ratio = scores / softcap
            square = ratio * ratio
            near = ratio / (1 + square / (3 + square / (5 + square / (7 + square / (9 + square / (11 + square / 13))))))
            power = ntl.exp(-2 * ntl.abs(ratio))
            far = (1 - power) / (1 + power)
            far = ntl.where(ratio < 0, -far, far)
            scores = ntl.where(ntl.abs(ratio) < 0.5, near, far) * softcap
        seen = column < k.source.shape[3]
        if causal:
            seen = seen & (column <= row)
        if window:
            seen = seen & (column - row < window) & (row - column < window)
        scores = ntl.where(seen, scores * unit, float("-inf"))
        higher = ntl.maximum(peak, ntl.max(scores, 1, keep_dims=True))
        # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        shift = ntl.where(higher == float("-inf"), 0.0, higher)
        if unit == 1:
            weights = ntl.exp(scores - shift)
            faded = ntl.exp(peak - shift)
        else:
            weights = ntl.exp2(scores - shift)
            faded = ntl.exp2(peak - shift)
        total = total * faded + ntl.sum(weights, 1, keep_dims=True)
        result = ntl.dot(ntl.cast(weights, value.dtype), value, result * faded, input_precision="ieee", out_dtype=dtype)
        peak = higher
    out = result / total


@functools.cache
def _kernel(application: Callable[..., Any]) -> Any:
    operands = (Tensor(5, other=0), Tensor(5, other=0), Tensor(5, other=0), Tensor(5))
    constants = (Tensor(0, constexpr=True) for _ in range(_CONSTANTS))
    return ninetoothed.make(arrangement, application, (*operands, *constants), num_warps=4, num_stages=2)


def _launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
    unit: float,
) -> torch.Tensor:
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    shared, size = k.shape[1], q.shape[-1]
    queries, results = (tensor.unflatten(1, (shared, -1)) for tensor in (near(q), out))
    keys, values = (near(tensor)[:, :, None].expand(-1, -1, queries.shape[2], -1, -1) for tensor in (k, v))
    m, n = _LARGE if q.element_size() == 2 else _SMALL
    for operands in parts(queries, keys, values, results):
        _kernel(flash)(
            *operands, size**-0.5 if scale is None else scale, softcap or 0.0, causal, window or 0, unit, wide(q.dtype),
            BLOCK_M=m, BLOCK_N=n, BLOCK_D=max(16, power_of_2(size)),
        )  # fmt: skip
    return out


@implementation("attention", paradigm="ninetoothed", name="flash")
def _flash(
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
    return _launch(q, k, v, causal, scale, softcap, window, 1.0)


@implementation(
    "attention", paradigm="ninetoothed", name="flash_exp2", optimizes="flash", technique="exp2 with folded scale"
)
def _flash_exp2(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the same by powers of two, which hardware has; scores are multiplied by log2 e."""
    return _launch(q, k, v, causal, scale, softcap, window, LOG2_E)
