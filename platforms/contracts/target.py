"""What is written into a given tensor: ``out=``, of any layout, and in place of an input where elements are alone.

An implementation offers it by a keyword parameter ``out``.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import torch

from kernels.elementwise import Broadcast, Elementwise
from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute


def check(bench: Bench) -> Call:
    """Return a call; its others are those into a target, which must be what is returned."""
    if "out" not in inspect.signature(bench.implementation.function).parameters:
        raise NotApplicable("it takes no out=")
    (form,) = bench.operation.results(bench.case).values()
    call = execute(bench)
    ways = {"out": _new, "out transposed": _transposed}
    if isinstance(bench.operation, (Elementwise, Broadcast)):
        first = next(iter(bench.operation.forms(bench.case).values()))
        ways |= {"out is an input": _first} if (first.shape, first.dtype) == (form.shape, form.dtype) else {}
    for said, target in ways.items():
        if call.message:
            break
        again = execute(replace(bench, function=_into(bench, target)))
        if again.message:
            return replace(again, message=f"{said}: {again.message}")
        call.damage += [replace(one, detail=f"{said}: {one.detail}") for one in again.damage]
        if differing(call.results, again.results):
            call.others.append((said, again.results))
    return call


def _into(bench: Bench, target: Any) -> Any:
    (form,) = bench.operation.results(bench.case).values()

    def run(*tensors: torch.Tensor, **params: Any) -> torch.Tensor:
        tensors, out = target(tensors, form)
        returned = bench.function(*tensors, out=out, **params)
        if returned is not out:
            raise ValueError("it returned another tensor than its out=")
        return out

    return run


def _new(tensors: tuple[torch.Tensor, ...], form: Any) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    return tensors, torch.empty(form.shape, dtype=getattr(torch, form.dtype), device=tensors[0].device)


def _transposed(tensors: tuple[torch.Tensor, ...], form: Any) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """Return the inputs, and a target whose elements lie in column-major order."""
    tensors, out = _new(tensors, replace(form, shape=form.shape[::-1]))
    return tensors, out.permute(*reversed(range(out.ndim)))


def _first(tensors: tuple[torch.Tensor, ...], form: Any) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """Return the inputs with a copy of the first in its place, and that as the target."""
    out = torch.empty(form.shape, dtype=tensors[0].dtype, device=tensors[0].device).copy_(tensors[0])
    return (out, *tensors[1:]), out
