"""varlen_attention compiled by Inductor: one kernel for all sequences, whose lengths it leaves open."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import attended
from kernels.varlen_attention.torch import by_sequence

_attended = strictly_compiled(attended)


@implementation("varlen_attention", paradigm="inductor")
def compiled(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the attention of each sequence, one after the other."""
    return by_sequence(_attended, q, k, v, cu_q, cu_k, causal=causal, scale=scale)
