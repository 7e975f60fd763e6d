"""decode_attention in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import attended, precision


def whole(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, *, scale: float | None
) -> torch.Tensor:
    """Return the attention of each query to what is cached, whole caches at once, as precise as is set."""
    place = torch.arange(k_cache.shape[2], dtype=lengths.dtype, device=q.device)
    cached = place < lengths[:, None]
    # A weight of 0 times a NaN beyond the length would be NaN.
    values = v_cache.masked_fill(~cached[:, None, :, None], 0.0)
    return attended(q[:, :, None], k_cache, values, cached[:, None, None], scale=scale)[:, :, 0]


@implementation("decode_attention", paradigm="torch")
def eager(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, *, scale: float | None
) -> torch.Tensor:
    """Return the attention of each query to what is cached."""
    with precision("highest"):
        return whole(q, k_cache, v_cache, lengths, scale=scale)
