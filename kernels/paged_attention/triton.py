"""paged_attention in Triton: decode_attention's kernel, which looks each key's page up."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention.triton import decode


@implementation("paged_attention", paradigm="triton")
def one_pass(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    page_table: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to its pages: one program goes along all keys of a sequence."""
    k, v = k_pages.transpose(1, 2), v_pages.transpose(1, 2)
    return decode(q, k, v, lengths, scale, table=page_table, split=False)


@implementation("paged_attention", paradigm="triton", optimizes="one_pass", technique="split-KV")
def split_kv(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    page_table: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the same by several programs a sequence, so that few sequences with many keys fill a device too."""
    k, v = k_pages.transpose(1, 2), v_pages.transpose(1, 2)
    return decode(q, k, v, lengths, scale, table=page_table, split=True)
