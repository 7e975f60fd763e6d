"""all_gather through torch.distributed: its own, and messages in a ring."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation


@implementation("all_gather", paradigm="torch")
def eager(x: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the tensors of all ranks as the backend gathers them."""
    out = x.new_empty((group.size, *x.shape))
    group.all_gather(out.view(-1), x.contiguous().view(-1))
    return out


@implementation("all_gather", paradigm="torch", optimizes="eager", technique="in place")
def in_place(x: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the same, of parts that lie where they will be in the result."""
    out = x.new_empty((group.size, *x.shape))
    out[group.rank] = x
    group.all_gather(out.view(-1), out[group.rank].view(-1))
    return out


@implementation("all_gather", paradigm="torch", optimizes="eager", technique="asynchronous")
def waited(x: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the same, begun, and waited for."""
    out, mine = x.new_empty((group.size, *x.shape)), x.contiguous().view(-1)
    group.all_gather(out.view(-1), mine, wait=False).wait()
    return out


@implementation("all_gather", paradigm="torch", optimizes="eager", technique="ring")
def ring(x: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the same of messages in a ring: each rank hands on what it got last."""
    rank, size = group.rank, group.size
    out = x.new_empty((size, *x.shape))
    out[rank] = x
    for step in range(size - 1):
        sent, taken = (rank - step) % size, (rank - step - 1) % size
        group.exchange(out[sent], (rank + 1) % size, out[taken], (rank - 1) % size)
    return out
