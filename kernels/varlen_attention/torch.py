"""varlen_attention in plain PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch

from kernels import implementation
from kernels.scaled_dot_product import visible
from kernels.toolchains.torch import attended, precision


def by_sequence(
    attend: Callable[..., torch.Tensor],
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each sequence, one after the other, as ``attend`` computes it for the heads of one."""
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    for (first, last), (begin, end) in zip(pairwise(cu_q.tolist()), pairwise(cu_k.tolist()), strict=True):
        queries, keys = last - first, end - begin
        seen = torch.from_numpy(visible(queries, keys, causal=causal, offset=keys - queries)).to(q.device)
        query, key, value = (x.transpose(0, 1) for x in (q[first:last], k[begin:end], v[begin:end]))
        with precision("highest"):
            out[first:last] = attend(query, key, value, seen, scale=scale).transpose(0, 1)
    return out


@implementation("varlen_attention", paradigm="torch")
def eager(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each sequence, one after the other."""
    return by_sequence(attended, q, k, v, cu_q, cu_k, causal=causal, scale=scale)
