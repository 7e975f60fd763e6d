"""gemm_reduce_scatter through torch.distributed: one after the other, and parts sent while the next are multiplied."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation


@implementation("gemm_reduce_scatter", paradigm="torch", numerics="per-hop")
def eager(a: torch.Tensor, b: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return this rank's rows of the sum that the backend makes of whole products."""
    product = a @ b
    out = a.new_empty((a.shape[0] // group.size, b.shape[1]))
    group.reduce_scatter(out.view(-1), product.view(-1))
    return out


@implementation("gemm_reduce_scatter", paradigm="torch", numerics="per-hop", optimizes="eager", technique="overlapped")
def overlapped(a: torch.Tensor, b: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the same in a ring: while what a rank has got is under way, the next part is multiplied."""
    rank, size = group.rank, group.size
    parts = a.chunk(size) if a.shape[0] else [a] * size
    carried = parts[(rank - 1) % size] @ b
    for step in range(1, size):
        arrived = torch.empty_like(carried)
        group.exchange(carried, (rank + 1) % size, arrived, (rank - 1) % size)
        carried = parts[(rank - 1 - step) % size] @ b + arrived
    return carried


@implementation("gemm_reduce_scatter", paradigm="torch", optimizes="eager", technique="one shot")
def one_shot(a: torch.Tensor, b: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the sum, made at once in float32, of products that are sent as they are."""
    product = (a @ b).view(group.size, a.shape[0] // group.size, b.shape[1])
    every = torch.empty_like(product)
    group.all_to_all(every, product, [1] * group.size, [1] * group.size)
    return every.float().sum(0).to(a.dtype)
