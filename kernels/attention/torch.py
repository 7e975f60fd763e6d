"""attention in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.attention import visible
from kernels.toolchains.torch import precision, wide


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
    groups = q.shape[1] // k.shape[1]
    keys, values = (wide(x).repeat_interleave(groups, 1) for x in (k, v))
    with precision("highest"):
        scores = torch.matmul(wide(q), keys.transpose(-1, -2)) * (q.shape[-1] ** -0.5 if scale is None else scale)
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
        weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), -1)
        return torch.matmul(weights, values).to(q.dtype)
