"""attention_backward compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.attention_backward.torch import differentiated
from kernels.scaled_dot_product import visible
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_differentiated = strictly_compiled(differentiated)


@implementation("attention_backward", paradigm="inductor")
def compiled(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``q``, ``k`` and ``v``; the mask is made before, so that all masks share a kernel."""
    seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
    with precision("highest"):
        dq, dk, dv = _differentiated(grad, q, k, v, seen, scale=scale, softcap=softcap)
    return dq, dk, dv
