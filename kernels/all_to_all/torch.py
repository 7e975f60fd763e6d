"""all_to_all through torch.distributed: its own, and messages between pairs of ranks."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation


@implementation("all_to_all", paradigm="torch")
def eager(x: torch.Tensor, *, splits: list[int], group: Any) -> torch.Tensor:
    """Return what the backend brings."""
    sent, received = _rows(splits, group)
    out = x.new_empty((sum(received), *x.shape[1:]))
    group.all_to_all(out, x.contiguous(), received, sent)
    return out


@implementation("all_to_all", paradigm="torch", optimizes="eager", technique="asynchronous")
def waited(x: torch.Tensor, *, splits: list[int], group: Any) -> torch.Tensor:
    """Return the same, begun, and waited for."""
    sent, received = _rows(splits, group)
    out, mine = x.new_empty((sum(received), *x.shape[1:])), x.contiguous()
    group.all_to_all(out, mine, received, sent, wait=False).wait()
    return out


@implementation("all_to_all", paradigm="torch", optimizes="eager", technique="pairwise")
def pairwise(x: torch.Tensor, *, splits: list[int], group: Any) -> torch.Tensor:
    """Return the same in as many rounds as there are ranks, each of which has another partner."""
    rank, size = group.rank, group.size
    sent, received = _rows(splits, group)
    out = x.new_empty((sum(received), *x.shape[1:]))
    parts, places = x.contiguous().split(sent), out.split(received)
    places[rank].copy_(parts[rank])
    for step in range(1, size):
        to, source = (rank + step) % size, (rank - step) % size
        group.exchange(parts[to], to, places[source], source)
    return out


def _rows(splits: list[int], group: Any) -> tuple[list[int], list[int]]:
    """Return how many rows this rank sends to each, and how many it receives from each."""
    return splits[group.rank * group.size :][: group.size], splits[group.rank :: group.size]
