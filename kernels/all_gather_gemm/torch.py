"""all_gather_gemm through torch.distributed: one after the other, and rows multiplied while the next are under way."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation


@implementation("all_gather_gemm", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the product of all rows, once they are here."""
    rows = a.new_empty((group.size * a.shape[0], a.shape[1]))
    group.all_gather(rows.view(-1), a.contiguous().view(-1))
    return rows @ b


@implementation("all_gather_gemm", paradigm="torch", optimizes="eager", technique="overlapped")
def overlapped(a: torch.Tensor, b: torch.Tensor, *, group: Any) -> torch.Tensor:
    """Return the same, each rank's rows multiplied when they have come, while the others' are under way."""
    m = a.shape[0]
    out = a.new_empty((group.size * m, b.shape[1]))
    rows = [a.clone(memory_format=torch.contiguous_format) for _ in range(group.size)]
    works = [group.broadcast(rows[source], source, wait=False) for source in range(group.size)]
    for source, work in enumerate(works):
        work.wait()
        out[source * m : (source + 1) * m] = rows[source] @ b
    return out
