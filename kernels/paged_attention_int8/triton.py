"""paged_attention_int8 in Triton: decode_attention's kernel, which looks pages up and dequantizes."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention.triton import decode


@implementation("paged_attention_int8", paradigm="triton")
def one_pass(
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
    """Return the attention of each query to the keys on its pages: one program goes along all keys of a sequence."""
    k, v, k_scale, v_scale = (x.transpose(1, 2) for x in (k_pages, v_pages, k_scale, v_scale))
    return decode(q, k, v, lengths, scale, table=page_table, scales=(k_scale, v_scale), split=False)


@implementation("paged_attention_int8", paradigm="triton", optimizes="one_pass", technique="split-KV")
def split_kv(
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
    """Return the same by several programs a sequence, so that few sequences with many keys fill a device too."""
    k, v, k_scale, v_scale = (x.transpose(1, 2) for x in (k_pages, v_pages, k_scale, v_scale))
    return decode(q, k, v, lengths, scale, table=page_table, scales=(k_scale, v_scale), split=True)
