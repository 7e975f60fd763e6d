"""attention_backward in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.scaled_dot_product import visible
from kernels.toolchains.torch import precision, wide


def differentiated(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    seen: torch.Tensor,
    *,
    scale: float | None,
    softcap: float | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return dq, dk and dv where ``seen``, by whole matrices of scores, as precise as is set."""
    groups, factor = q.shape[1] // k.shape[1], q.shape[-1] ** -0.5 if scale is None else scale
    keys, values = (wide(x).repeat_interleave(groups, 1) for x in (k, v))
    scores = torch.matmul(wide(q), keys.transpose(-1, -2)) * factor
    shares = torch.zeros_like(scores) if softcap is None else torch.tanh(scores / softcap)
    scores = scores if softcap is None else softcap * shares
    weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), -1).masked_fill(~seen, 0.0)
    slopes = torch.matmul(wide(grad), values.transpose(-1, -2))
    slopes = weights * (slopes - (weights * slopes).sum(-1, keepdim=True)) * (1 - shares * shares)
    dq = torch.matmul(slopes, keys) * factor
    dk = torch.matmul(slopes.transpose(-1, -2), wide(q)) * factor
    dv = torch.matmul(weights.transpose(-1, -2), wide(grad))
    dk, dv = (x.unflatten(1, (k.shape[1], groups)).sum(2) for x in (dk, dv))
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)


@implementation("attention_backward", paradigm="torch")
def eager(
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
    """Return the gradients of ``q``, ``k`` and ``v``."""
    seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
    with precision("highest"):
        return differentiated(grad, q, k, v, seen, scale=scale, softcap=softcap)
