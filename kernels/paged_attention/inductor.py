"""paged_attention compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.paged_attention.torch import gathered
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_gathered = strictly_compiled(gathered)


@implementation("paged_attention", paradigm="inductor")
def compiled(
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
        return _gathered(q, k_pages, v_pages, page_table, lengths, scale=scale)
