"""decode_attention_int8 in Triton: decode_attention's kernel, which dequantizes what it fetches."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.decode_attention.triton import decode


@implementation("decode_attention_int8", paradigm="triton")
def one_pass(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each query to what is cached: one program goes along all keys of a sequence."""
    return decode(q, k_cache, v_cache, lengths, scale, scales=(k_scale, v_scale), split=False)


@implementation("decode_attention_int8", paradigm="triton", optimizes="one_pass", technique="split-KV")
def split_kv(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float | None,
) -> torch.Tensor:
    """Return the same by several programs a sequence, so that few sequences with many keys fill a device too."""
    return decode(q, k_cache, v_cache, lengths, scale, scales=(k_scale, v_scale), split=True)
