"""reduce_scatter through torch.distributed: its own, and what can be made of its other messages."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation
from kernels.toolchains.torch_reductions import combined, known, reduced


@implementation("reduce_scatter", paradigm="torch", numerics="per-hop")
def eager(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return this rank's part as the backend makes it."""
    out = x.new_empty(x.shape[1:])
    group.reduce_scatter(out.view(-1), x.contiguous().view(-1), known(op, x))
    return out


@implementation("reduce_scatter", paradigm="torch", numerics="per-hop", optimizes="eager", technique="asynchronous")
def waited(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same, begun, and waited for."""
    out, mine = x.new_empty(x.shape[1:]), x.contiguous().view(-1)
    group.reduce_scatter(out.view(-1), mine, known(op, x), wait=False).wait()
    return out


@implementation(
    "reduce_scatter", paradigm="torch", numerics="per-hop", optimizes="eager", technique="ring", batch_invariant=True
)
def ring(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same of messages in a ring, to each of which a rank adds its own before it hands it on."""
    rank, size = group.rank, group.size
    carried = x[(rank - 1) % size].clone(memory_format=torch.contiguous_format)
    for step in range(1, size):
        arrived = torch.empty_like(carried)
        group.exchange(carried, (rank + 1) % size, arrived, (rank - 1) % size)
        carried = combined(x[(rank - 1 - step) % size], arrived, op).contiguous()
    return carried / size if op == "avg" and x.is_floating_point() else carried


@implementation("reduce_scatter", paradigm="torch", optimizes="eager", technique="one shot", batch_invariant=True)
def one_shot(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction of what all ranks send, made at once, narrow floats in float32."""
    every = x.new_empty(x.shape)
    group.all_to_all(every, x.contiguous(), [1] * group.size, [1] * group.size)
    return reduced(every, op)
