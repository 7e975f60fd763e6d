"""paged_attention_int8 in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.paged_attention.torch import gathered
from kernels.toolchains.torch import precision


def dequantized(
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
    """Return the attention of each query to the keys on its pages, dequantized in float32, as precise as is set."""
    k, v = k_pages * k_scale[..., None], v_pages * v_scale[..., None]
    return gathered(q, k, v, page_table, lengths, scale=scale)


@implementation("paged_attention_int8", paradigm="torch")
def eager(
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
        return dequantized(q, k_pages, v_pages, k_scale, v_scale, page_table, lengths, scale=scale)
