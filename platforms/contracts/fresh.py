"""An answer is computed anew: not the one to the last question that came in the same tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from platforms.contracts import NotApplicable
from platforms.contracts.inputs import another, on_device, write
from platforms.execution import Bench, Call, execute


def check(bench: Bench) -> Call:
    """Return a call in tensors that another question was asked in just before; a remembered answer is a wrong one."""
    others = another(bench)
    if all((others[name] == values).all() for name, values in bench.inputs.items()):
        raise NotApplicable("there are no other values for these inputs")
    return execute(replace(bench, variant="fresh"))


def varied(bench: Bench, poison: int, canary: int) -> Call:
    """Return the second of two calls in the same tensors."""
    others = another(bench)

    def second(*tensors: Any, **params: Any) -> Any:
        write(tensors, on_device(tensors, others))
        bench.function(*tensors, **params)
        write(tensors, on_device(tensors, bench.inputs))
        return bench.function(*tensors, **params)

    return replace(bench, function=second).call(poison=poison, canary=canary)
