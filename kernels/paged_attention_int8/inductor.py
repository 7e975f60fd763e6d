"""paged_attention_int8 compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.paged_attention_int8.torch import dequantized
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_dequantized = strictly_compiled(dequantized)


@implementation("paged_attention_int8", paradigm="inductor")
def compiled(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    page_table: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to the keys on its pages."""
    with precision("highest"):
        return _dequantized(q, k_pages, v_pages, k_scale, v_scale, page_table, lengths, scale=scale)
