"""all_reduce through torch.distributed: its own, and what can be made of its other messages."""

from __future__ import annotations

from typing import Any

import torch

from golden.case import Case
from kernels import implementation
from kernels.toolchains.torch_reductions import combined, known, reduced

PIECES = 3
"""Pieces of a message that are under way at once."""


@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def eager(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction as the backend makes it, in a copy of ``x``."""
    out = x.clone(memory_format=torch.contiguous_format)
    group.all_reduce(out, known(op, x))
    return out


@implementation("all_reduce", paradigm="torch", numerics="per-hop", optimizes="eager", technique="asynchronous")
def waited(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same, begun, and waited for when something else has been done."""
    out = x.clone(memory_format=torch.contiguous_format)
    work = group.all_reduce(out, known(op, x), wait=False)
    torch.sum(x)  # what does not need the result
    work.wait()
    return out


@implementation("all_reduce", paradigm="torch", numerics="per-hop", optimizes="eager", technique="several in flight")
def in_flight(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the same in pieces, all of which are under way at once."""
    out = x.clone(memory_format=torch.contiguous_format)
    works = [group.all_reduce(piece, known(op, x), wait=False) for piece in out.view(-1).chunk(PIECES)]
    for work in works:
        work.wait()
    return out


@implementation("all_reduce", paradigm="torch", numerics="per-hop", optimizes="eager", technique="in two halves")
def halves(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction, scattered over the ranks and gathered again."""
    length = -(-x.numel() // group.size)
    padded = x.new_zeros(group.size * length)
    padded[: x.numel()] = x.reshape(-1)
    mine = x.new_empty(length)
    group.reduce_scatter(mine, padded, known(op, x))
    group.all_gather(padded, mine)
    return padded[: x.numel()].clone().view(x.shape)


@implementation("all_reduce", paradigm="torch", optimizes="eager", technique="one shot", batch_invariant=True)
def one_shot(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction that each rank makes by itself of what all ranks hold, narrow floats in float32."""
    every = x.new_empty((group.size, *x.shape))
    group.all_gather(every.view(-1), x.contiguous().view(-1))
    return reduced(every, op)


@implementation("all_reduce", paradigm="torch", numerics="per-hop", optimizes="eager", technique="ring")
def ring(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction of messages in a ring: each rank adds its own to what the one before has, piece by piece."""
    rank, size = group.rank, group.size
    out = x.clone(memory_format=torch.contiguous_format)
    flat = out.view(-1)
    length = -(-flat.numel() // size)
    pieces = [flat[min(one * length, flat.numel()) :][:length] for one in range(size)]
    following, before = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        sent, taken = pieces[(rank - step) % size], pieces[(rank - step - 1) % size]
        arrived = torch.empty_like(taken)
        group.exchange(sent, following, arrived, before)
        taken.copy_(combined(taken, arrived, op))
    mine = pieces[(rank + 1) % size]
    if op == "avg" and x.is_floating_point():
        mine.div_(size)
    for step in range(size - 1):
        sent, taken = pieces[(rank + 1 - step) % size], pieces[(rank - step) % size]
        group.exchange(sent, following, taken, before)
    return out


@implementation(
    "all_reduce", paradigm="torch", numerics="per-hop", optimizes="eager", technique="tree", batch_invariant=True
)
def tree(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the reduction of messages up a binary tree to rank 0, and down again."""
    rank, size = group.rank, group.size
    out = x.clone(memory_format=torch.contiguous_format)
    strides = [1 << level for level in range((size - 1).bit_length())]
    for stride in strides:
        if rank % (2 * stride) == stride:
            group.exchange(out, rank - stride, None, rank)
        elif rank % (2 * stride) == 0 and rank + stride < size:
            arrived = torch.empty_like(out)
            group.exchange(None, rank, arrived, rank + stride)
            out.copy_(combined(out, arrived, op))
    if op == "avg" and x.is_floating_point() and rank == 0:
        out.div_(size)
    for stride in reversed(strides):
        if rank % (2 * stride) == stride:
            group.exchange(None, rank, out, rank - stride)
        elif rank % (2 * stride) == 0 and rank + stride < size:
            group.exchange(out, rank + stride, None, rank)
    return out


_KEPT: dict[tuple[int, torch.dtype], torch.Tensor] = {}
"""Memory that all ranks reach: to have it takes messages, so that it stays, and a graph can be captured with it."""

_ALIGNED = 16
"""Bytes that such a message is a multiple of."""


def _sums_alone(case: Case) -> str:
    return "" if case.params["op"] == "sum" else "symmetric memory is summed, and nothing else"


def _shared(x: torch.Tensor, group: Any) -> torch.Tensor:
    """Return memory that all ranks reach with ``x`` at its beginning, and zeros up to a whole number of loads."""
    loads = _ALIGNED // x.element_size()
    elements = max(1, -(-x.numel() // loads)) * loads
    if (elements, x.dtype) not in _KEPT:
        _KEPT.clear()
        _KEPT[elements, x.dtype] = group.symmetric(elements, x.dtype, x.device)
    buffer = _KEPT[elements, x.dtype]
    buffer[: x.numel()] = x.reshape(-1)
    buffer[x.numel() :] = 0
    return buffer


@implementation(
    "all_reduce",
    paradigm="torch",
    numerics="per-hop",
    optimizes="eager",
    technique="symmetric, one shot",
    dtypes=("float32", "bfloat16"),
    needs=("symmetric memory",),
    refuses=_sums_alone,
)
def symmetric(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the sum that each rank makes of what lies in the memory of all."""
    return group.summed_at_once(_shared(x, group))[: x.numel()].clone().view(x.shape)


@implementation(
    "all_reduce",
    paradigm="torch",
    numerics="per-hop",
    optimizes="eager",
    technique="symmetric, two shots",
    dtypes=("float32", "bfloat16"),
    needs=("symmetric memory",),
    refuses=_sums_alone,
)
def symmetric_halves(x: torch.Tensor, *, op: str, group: Any) -> torch.Tensor:
    """Return the sum, of which each rank makes a part and writes it to the memory of all."""
    buffer = _shared(x, group)
    group.summed_in_place(buffer)
    return buffer[: x.numel()].clone().view(x.shape)
