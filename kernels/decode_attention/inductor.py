"""decode_attention compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention.torch import whole
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_whole = strictly_compiled(whole)


@implementation("decode_attention", paradigm="inductor")
def compiled(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, *, scale: float | None
) -> torch.Tensor:
    """Return the attention of each query to what is cached."""
    with precision("highest"):
        return _whole(q, k_cache, v_cache, lengths, scale=scale)
