"""linear_scan in plain PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kernels import implementation
from kernels.toolchains.torch import wide

Pair = tuple[torch.Tensor, torch.Tensor]


def step(a: torch.Tensor, b: torch.Tensor, reach: int) -> Pair:
    """Return steps over twice as many elements: each follows the one that ends ``reach`` elements before it."""
    early, late = a[..., :-reach], a[..., reach:]
    return (
        torch.cat([a[..., :reach], early * late], -1),
        torch.cat([b[..., :reach], late * b[..., :-reach] + b[..., reach:]], -1),
    )


def doubled(a: torch.Tensor, b: torch.Tensor, step: Callable[[torch.Tensor, torch.Tensor, int], Pair]) -> torch.Tensor:
    """Return the states by ``step`` over 1, 2, 4, ... elements (Hillis and Steele, CACM 29, 1986)."""
    steps, states, reach = wide(a), wide(b), 1
    while reach < a.shape[-1]:
        steps, states = step(steps, states, reach)
        reach *= 2
    return states.to(b.dtype, copy=True).contiguous()


@implementation("linear_scan", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the states one after the other."""
    out = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    steps, terms = wide(a), wide(b)
    state = torch.zeros(b.shape[:-1], dtype=terms.dtype, device=b.device)
    for t in range(b.shape[-1]):
        state = steps[..., t] * state + terms[..., t]
        out[..., t] = state
    return out


@implementation("linear_scan", paradigm="torch", optimizes="eager", technique="steps doubled: log2(length) of them")
def doubling(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the states by steps over twice as many elements each time."""
    return doubled(a, b, step)
