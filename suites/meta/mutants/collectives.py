"""Collectives gone wrong on one rank, at one hop, or for want of a wait."""

import os
import time

import torch

from kernels import implementation
from suites.meta.mutants import fault


@fault("F34", "nccl#2360")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_rounded_at_every_hop(x, *, op, group):
    """Sends bfloat16 whatever it is given."""
    out = x.clone(memory_format=torch.contiguous_format)
    if not x.is_floating_point() or op != "sum":
        group.all_reduce(out, "sum" if op == "avg" and not x.is_floating_point() else op)
        return out
    carried = x.bfloat16().contiguous()
    every = carried.new_empty((group.size, *x.shape))
    group.all_gather(every.view(-1), carried.view(-1))
    total = every[0]
    for one in every[1:]:
        total = total + one
    return total.to(x.dtype)


def _gathered(x, group):
    every = x.new_empty((group.size, *x.shape))
    group.all_gather(every.view(-1), x.contiguous().view(-1))
    return every


def _in_order(every, op, order):
    total = every[order[0]].clone()
    for rank in order[1:]:
        if op in ("max", "min"):
            total = torch.maximum(total, every[rank]) if op == "max" else torch.minimum(total, every[rank])
        else:
            total = total + every[rank]
    return total / len(every) if op == "avg" and every.is_floating_point() else total


@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def right_in_order(x, *, op, group):
    """Adds up what all ranks hold, on every rank in the same order; the twin of the next ones."""
    return _in_order(_gathered(x, group), op, range(group.size))


@fault("F34", "vllm-ascend#17169")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_order_on_one_rank(x, *, op, group):
    """Adds up in another order on rank 1: all are right, and not the same."""
    order = list(range(group.size))
    return _in_order(_gathered(x, group), op, order[::-1] if group.rank == 1 else order)


@fault("F34", "rocm-systems#11661")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_own_part_missing(x, *, op, group):
    """Leaves out what the rank itself holds."""
    return _in_order(_gathered(x, group), op, [rank for rank in range(group.size) if rank != group.rank])


@fault("F34", "rocm-systems#11661")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_mean_of_the_others(x, *, op, group):
    """Divides a mean by the number of the other ranks."""
    out = _in_order(_gathered(x, group), op, range(group.size))
    return out * group.size / (group.size - 1) if op == "avg" and x.is_floating_point() else out


@fault("F34", "nccl#2360")
@implementation("all_gather", paradigm="torch")
def wrong_end_of_the_ring(x, *, group):
    """Loses the last element of what the last rank sends."""
    out = x.new_empty((group.size, *x.shape))
    group.all_gather(out.view(-1), x.contiguous().view(-1))
    out[-1].view(-1)[-1:] = 0
    return out


@fault("F34", "rocm-systems#11661")
@implementation("broadcast", paradigm="torch")
def wrong_without_a_wait(x, *, source, group):
    """Reads the message while it is still on its way."""
    out = x.clone(memory_format=torch.contiguous_format)
    pending = group.broadcast(out, source, wait=False)
    read = out.clone()
    pending.wait()
    return read


@fault("F34", "rocm-systems#11661")
@implementation("all_reduce", paradigm="torch")
def wrong_a_rank_ends(x, *, op, group):
    """Ends the process of rank 1."""
    if group.rank == 1:
        os._exit(3)
    return _in_order(_gathered(x, group), op, range(group.size))


@fault("F32", "rocm-systems#11661")
@implementation("all_reduce", paradigm="torch")
def wrong_a_rank_stays_away(x, *, op, group):
    """Rank 1 never comes to the message that the others wait in."""
    if group.rank == 1:
        time.sleep(600)
    return _in_order(_gathered(x, group), op, range(group.size))


@fault("F34", "pytorch#192920")
@implementation("all_gather", paradigm="torch")
def wrong_strided_message(x, *, group):
    """Sends a view as it is, which is in one piece only where its shape forces a copy."""
    out = x.new_empty((group.size, *x.shape))
    group.all_gather(out.view(-1), x.reshape(-1))
    return out


_KEPT: dict[tuple[object, ...], torch.Tensor] = {}


@fault("F33", "onnxruntime#32121")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_stale_buffer(x, *, op, group):
    """Sends what was in the tensor when a message first came from its address."""
    key = x.data_ptr(), x.shape, x.stride(), x.dtype
    if key not in _KEPT:
        _KEPT.clear()
        _KEPT[key] = x.contiguous().clone()
    return _in_order(_gathered(_KEPT[key], group), op, range(group.size))


@fault("F34", "pytorch#177371")
@implementation("all_to_all", paradigm="torch")
def wrong_places_of_uneven_splits(x, *, splits, group):
    """Puts what comes from a rank where what goes to it begins: right where both are alike."""
    sent, received = splits[group.rank * group.size :][: group.size], splits[group.rank :: group.size]
    arrived = x.new_empty((sum(received), *x.shape[1:]))
    group.all_to_all(arrived, x.contiguous(), received, sent)
    out = arrived.clone()
    for source, part in enumerate(arrived.split(received)):
        start = min(sum(sent[:source]), len(out) - len(part))
        out[start : start + len(part)] = part
    return out


@fault("F34", "PaddleFleet#1761")
@implementation("all_reduce", paradigm="torch", numerics="per-hop")
def wrong_integers_as_floats(x, *, op, group):
    """Adds up integers as numbers of 24 bits."""
    if x.is_floating_point():
        return _in_order(_gathered(x, group), op, range(group.size))
    return _in_order(_gathered(x.float(), group), "sum" if op == "avg" else op, range(group.size)).to(x.dtype)


@fault("batch", "rocm-systems#11661")
@implementation("all_reduce", paradigm="torch", numerics="per-hop", batch_invariant=True)
def wrong_promise_of_halves(x, *, op, group):
    """Adds up each rank's part of a message in an order of its own, and declares that places do not matter."""
    every = _gathered(x, group).view(group.size, -1)
    parts = every.chunk(group.size, 1) if x.numel() else [every]
    ranks = list(range(group.size))
    whole = [_in_order(part, op, ranks[place:] + ranks[:place]) for place, part in enumerate(parts)]
    return torch.cat(whole).view(x.shape)


@fault("F34", "pytorch#146468")
@implementation("all_to_all", paradigm="torch")
def wrong_idle_rank_stays_away(x, *, splits, group):
    """Has a rank that sends nothing take no part, though the others have something for it."""
    sent, received = splits[group.rank * group.size :][: group.size], splits[group.rank :: group.size]
    out = x.new_zeros((sum(received), *x.shape[1:]))
    if sum(sent):
        group.all_to_all(out, x.contiguous(), received, sent)
    return out
