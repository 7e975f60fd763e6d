"""attention in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.scaled_dot_product import visible
from kernels.toolchains.torch import attended, precision


@implementation("attention", paradigm="torch")
def eager(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v``: whole matrices of scores, in float32 for narrow types."""
    seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
    with precision("highest"):
        return attended(q, k, v, seen, scale=scale, softcap=softcap)
