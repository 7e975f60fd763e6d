"""attention in portable C++: a row of scores at once, or blocks of them with a running maximum and sum.

Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867; Dao et al., "FlashAttention: fast
and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


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


@implementation("attention", paradigm="cpp")
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
    """Return the attention of ``q`` to ``k`` and ``v``: for each query a whole row of scores, masked ones included."""
    return _attended("unfused", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)


@implementation("attention", paradigm="cpp", optimizes="unfused", technique="online softmax")
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
    return _attended("flash", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)


@implementation("attention", paradigm="cpp", optimizes="flash", technique="causal skipping")
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
    """Return the attention of ``q`` to ``k`` and ``v``, and look at nothing that masks hide."""
    return _attended("skipping", q, k, v, causal=causal, scale=scale, softcap=softcap, window=window)
