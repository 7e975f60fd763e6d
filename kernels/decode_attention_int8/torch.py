"""decode_attention_int8 in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention.torch import whole
from kernels.toolchains.torch import precision


def dequantized(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to what is cached, dequantized in float32, as precise as is set."""
    k, v = k_cache * k_scale[..., None], v_cache * v_scale[..., None]
    return whole(q, k, v, lengths, scale=scale)


@implementation("decode_attention_int8", paradigm="torch")
def eager(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to what is cached."""
    with precision("highest"):
        return dequantized(q, k_cache, v_cache, k_scale, v_scale, lengths, scale=scale)
