"""A row's result does not depend on the other rows, nor on how many there are.

The rows are those along the contract's independent axis: asked for in two parts, and in reverse order, their results
are right as well. That they are the same in every bit is measured, and judged where an implementation declares it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from golden.case import TensorSpec
from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage, Result


def check(bench: Bench) -> Call:
    """Return a call; its others are those of rows taken apart or in another order that gave other bits."""
    independent = bench.operation.independent_axis(bench.case)
    if independent is None:
        raise NotApplicable("its contract names no rows that are independent")
    axis, along = independent
    (form,) = bench.operation.results(bench.case).values()
    axis %= len(form.shape)
    count = form.shape[axis]
    plain = {name: TensorSpec(bench.case.spec(name).regime) for name in bench.inputs}
    bench = replace(bench, case=replace(bench.case, tensors=plain))
    call = execute(bench)
    for said, parts in (
        ("rows in two parts", [np.arange(1), np.arange(1, count)]),
        ("rows in reverse", [np.arange(count)[::-1]]),
    ):
        if call.message or count < 2:
            break
        calls = [replace(bench, inputs=_taken(bench.inputs, along, part)).call() for part in parts]
        if failed := next((one for one in calls if one.message), None):
            return replace(failed, message=f"{said}: {failed.message}")
        results = [_joined([one.results[0] for one in calls], parts, axis)]
        call.damage += [replace(damage, detail=f"{said}: {damage.detail}") for one in calls for damage in one.damage]
        if difference := differing(call.results, results):
            call.others.append((said, results))
            if bench.implementation.batch_invariant:
                call.damage.append(Damage("inconsistent", f"{said}: {difference}"))
            else:
                call.note = f"not batch-invariant: {said}: {difference}"
    return call


def _taken(inputs: Mapping[str, np.ndarray], along: Mapping[str, int], part: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.take(array, part, along[name]) if name in along else array for name, array in inputs.items()}


def _joined(results: Sequence[Result], parts: Sequence[np.ndarray], axis: int) -> Result:
    """Return the results of parts of the rows as that of all rows, in their order."""
    rows = np.concatenate([result.array for result in results], axis)
    shape = tuple(
        sum(result.shape[axis] for result in results) if at == axis else size
        for at, size in enumerate(results[0].shape)
    )
    return Result(np.take(rows, np.argsort(np.concatenate(parts)), axis), results[0].dtype, shape)
