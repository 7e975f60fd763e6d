"""attention in CUDA C++: a warp for each query, alone or with others that share tiles of keys and values.

Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867; Dao et al., "FlashAttention: fast
and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""

from __future__ import annotations

import torch

from golden.case import Case
from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


LONGEST = 128
"""The longest head: ``LONGEST`` of the source."""


def _long_heads(case: Case) -> str:
    return f"written for heads of {LONGEST} elements at most" if case.dims["d"] > LONGEST else ""


def _attended(
    kernel: str,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel():
        factor = q.shape[-1] ** -0.5 if scale is None else scale
        SOURCE.call(kernel, q, k, v, out, integers=(causal, window or 0), reals=(factor, softcap or 0.0))
    return out


@implementation("attention", paradigm="cuda", refuses=_long_heads)
def warp_per_query(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v``, key by key: lanes share the numbers of a vector."""
    return _attended("warp_per_query", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)


@implementation(
    "attention",
    paradigm="cuda",
    optimizes="warp_per_query",
    technique="tiles in shared memory",
    refuses=_long_heads,
)
def tiled(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v``; lanes have a key each, of tiles that the warps share."""
    return _attended("tiled", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)


@implementation("attention", paradigm="cuda", optimizes="tiled", technique="causal skipping", refuses=_long_heads)
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
    """Return the attention of ``q`` to ``k`` and ``v``, and fetch no tile that masks hide."""
    return _attended("skipping", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)
