"""broadcast through torch.distributed: its own, and messages down a tree."""

from __future__ import annotations

from typing import Any

import torch

from kernels import implementation

PIECES = 3
"""Pieces of a message that are under way at once."""


@implementation("broadcast", paradigm="torch")
def eager(x: torch.Tensor, *, source: int, group: Any) -> torch.Tensor:
    """Return the tensor of the source as the backend sends it, into a copy of ``x``."""
    out = x.clone(memory_format=torch.contiguous_format)
    group.broadcast(out, source)
    return out


@implementation("broadcast", paradigm="torch", optimizes="eager", technique="several in flight")
def in_flight(x: torch.Tensor, *, source: int, group: Any) -> torch.Tensor:
    """Return the same in pieces, all of which are under way at once."""
    out = x.clone(memory_format=torch.contiguous_format)
    for work in [group.broadcast(piece, source, wait=False) for piece in out.view(-1).chunk(PIECES)]:
        work.wait()
    return out


@implementation("broadcast", paradigm="torch", optimizes="eager", technique="tree")
def tree(x: torch.Tensor, *, source: int, group: Any) -> torch.Tensor:
    """Return the same of messages down a binary tree, whose root the source is."""
    size = group.size
    place = (group.rank - source) % size
    out = x.clone(memory_format=torch.contiguous_format)
    for stride in reversed([1 << level for level in range((size - 1).bit_length())]):
        if place % (2 * stride) == stride:
            group.exchange(None, group.rank, out, (group.rank - stride) % size)
        elif place % (2 * stride) == 0 and place + stride < size:
            group.exchange(out, (group.rank + stride) % size, None, group.rank)
    return out
