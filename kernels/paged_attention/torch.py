"""paged_attention in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import attended, precision


def gathered(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    page_table: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to the keys on its pages, which are gathered first, as precise as is set."""
    page, slots = k_pages.shape[1], page_table.shape[1]
    cached = torch.arange(slots * page, dtype=lengths.dtype, device=q.device) < lengths[:, None]
    table = page_table.clamp(min=0)  # beyond the last page any will do: nothing of it is seen
    k, v = (pages[table].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))
    # A weight of 0 times a NaN beyond the length would be NaN.
    values = v.masked_fill(~cached[:, None, :, None], 0.0)
    return attended(q[:, :, None], k, values, cached[:, None, None], scale=scale)[:, :, 0]


@implementation("paged_attention", paradigm="torch")
def eager(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    page_table: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to the keys on its pages."""
    with precision("highest"):
        return gathered(q, k_pages, v_pages, page_table, lengths, scale=scale)
