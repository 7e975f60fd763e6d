"""reduce_scatter through torch.distributed: its own, and what can be made of its other messages.

Integers have no mean: what is asked for one gets the sum, which the contract leaves open.
"""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation


@implementation("reduce_scatter", paradigm="torch", numerics="per-hop")
def eager(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return this rank's part as the backend makes it."""
    out = x.new_empty(x.shape[1:])
    group.reduce_scatter(out.view(-1), x.reshape(-1), _known(op, x))
    return out


@implementation("reduce_scatter", paradigm="torch", numerics="per-hop", optimizes="eager", technique="asynchronous")
def waited(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same, begun, and waited for."""
    out, mine = x.new_empty(x.shape[1:]), x.reshape(-1)
    group.reduce_scatter(out.view(-1), mine, _known(op, x), wait=False).wait()
    return out


@implementation("reduce_scatter", paradigm="torch", numerics="per-hop", optimizes="eager", technique="ring")
def ring(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same of messages in a ring, to each of which a rank adds its own before it hands it on."""
    rank, size = group.rank, group.size
    carried = x[(rank - 1) % size].clone(memory_format=torch.contiguous_format)
    for step in range(1, size):
        arrived = torch.empty_like(carried)
        group.exchange(carried, (rank + 1) % size, arrived, (rank - 1) % size)
        carried = _combined(x[(rank - 1 - step) % size], arrived, op).contiguous()
    return carried / size if op == "avg" and x.is_floating_point() else carried


@implementation("reduce_scatter", paradigm="torch", optimizes="eager", technique="one shot")
def one_shot(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction of what all ranks send, made at once, narrow floats in float32."""
    every = x.new_empty(x.shape)
    group.all_to_all(every, x.contiguous(), [1] * group.size, [1] * group.size)
    wide = every.float() if x.is_floating_point() else every
    return _reduced(wide, op).to(x.dtype)


def _known(op: str, x: torch.Tensor) -> str:
    return "sum" if op == "avg" and not x.is_floating_point() else op


def _combined(one: torch.Tensor, other: torch.Tensor, op: str) -> torch.Tensor:
    if op in ("max", "min"):
        return torch.maximum(one, other) if op == "max" else torch.minimum(one, other)
    return one + other


def _reduced(every: torch.Tensor, op: str) -> torch.Tensor:
    if op in ("max", "min"):
        return every.amax(0) if op == "max" else every.amin(0)
    total = every.sum(0)
    return total / len(every) if op == "avg" and every.is_floating_point() else total
