"""What is captured as a graph computes on what its inputs hold when it is replayed.

Captured on other values; then the inputs change in place, and twice the output is poisoned, another shape run, and the
graph replayed: the second time is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from platforms.contracts import NotApplicable
from platforms.contracts.inputs import another, on_device, write
from platforms.execution import Bench, Call, describe, execute
from platforms.patterns import POISON, integer_type, signed


def check(bench: Bench) -> Call:
    """Return what a captured call left at its second replay; raises NotApplicable where it cannot be captured."""
    return execute(replace(bench, variant="graphs"))


def varied(bench: Bench, poison: int, canary: int) -> Call:
    """Return a captured call, which :func:`check` says more of."""
    others, reasons = another(bench), list[str]()

    def run(*tensors: Any, **params: Any) -> Any:
        right = on_device(tensors, bench.inputs)
        write(tensors, on_device(tensors, others))
        try:
            captured = bench.platform.capture(lambda: bench.function(*tensors, **params))
        except Exception as error:  # not every kernel can be captured, and none has promised it
            reasons.append(f"it cannot be captured: {describe(error, bench.implementation.source)}".splitlines()[0])
            raise
        if captured is None:
            reasons.append(f"platform {bench.platform.name} declares no graphs")
            raise NotApplicable(reasons[0])
        result, replay = captured
        results = result if isinstance(result, tuple) else (result,)
        replay()
        write(tensors, right)
        for _ in range(2):
            for one in results:
                one.view(integer_type(one.dtype)).fill_(signed(one.dtype, POISON))
            bench.function(*_first_rows(bench, tensors), **params)
            replay()
        return tuple(one.clone() for one in results) if isinstance(result, tuple) else result.clone()

    # Nothing is compiled or tuned while a graph is captured, and what a first call left behind is no answer.
    replace(bench, inputs=others).call()
    call = replace(bench, function=run).call(poison=poison, canary=canary)
    if reasons:
        raise NotApplicable(reasons[0])
    return call


def _first_rows(bench: Bench, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the inputs of another shape: of the first row alone, where rows are independent."""
    _, along = bench.operation.independent_axis(bench.case) or (0, {})
    named = zip(bench.operation.tensors, tensors, strict=True)
    return [one.narrow(along[name], 0, 1) if name in along and one.numel() else one for name, one in named]
