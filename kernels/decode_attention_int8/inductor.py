"""decode_attention_int8 compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention_int8.torch import dequantized
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_dequantized = strictly_compiled(dequantized)


@implementation("decode_attention_int8", paradigm="inductor")
def compiled(
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
        return _dequantized(q, k_cache, v_cache, k_scale, v_scale, lengths, scale=scale)
