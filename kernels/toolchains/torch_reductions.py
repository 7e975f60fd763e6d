"""Reductions over ranks in torch: what implementations of several collectives make of messages by themselves."""

from __future__ import annotations

import torch


def known(op: str, x: torch.Tensor) -> str:
    """Return what a backend is asked for: integers have no mean, and get the sum, which the contract leaves open."""
    return "sum" if op == "avg" and not x.is_floating_point() else op


def combined(one: torch.Tensor, other: torch.Tensor, op: str) -> torch.Tensor:
    """Return one step of reduction ``op``, in the tensors' dtype; a mean is divided when all has been added."""
    if op in ("max", "min"):
        return torch.maximum(one, other) if op == "max" else torch.minimum(one, other)
    return one + other


def reduced(every: torch.Tensor, op: str) -> torch.Tensor:
    """Return reduction ``op`` over the leading axis of what all ranks sent, of floats in float32, in their dtype.

    One rank's after the other's: sums of torch's own have another order at the end of a message.
    """
    wide = every.float() if every.is_floating_point() else every
    if op in ("max", "min"):
        return (wide.amax(0) if op == "max" else wide.amin(0)).to(every.dtype)
    total = wide[0]
    for one in wide[1:]:
        total = total + one
    mean = op == "avg" and every.is_floating_point()
    return (total / len(every) if mean else total).to(every.dtype)
