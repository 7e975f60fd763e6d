"""attention compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.scaled_dot_product import visible
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import attended, precision

_attended = strictly_compiled(attended)


@implementation("attention", paradigm="inductor")
def compiled(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> torch.Tensor:
    """Return the attention of ``q`` to ``k`` and ``v``; the mask is made before, so that all masks share a kernel."""
    seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
    with precision("highest"):
        return _attended(q, k, v, seen, scale=scale, softcap=softcap)
