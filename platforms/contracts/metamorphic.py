"""What an operation's results on other inputs say of its result: the relations that its contract declares.

The inputs are contiguous, and so is what the relations make of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from golden.case import TensorSpec
from golden.dtypes import decode, encode
from kernels.relations import Values
from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage, Result


class _Failed(Exception):
    """A call on other inputs did not return."""


def check(bench: Bench) -> Call:
    """Return a call; its others are what follows from calls on other inputs, where that differs in bits."""
    relations = bench.operation.relations
    if not relations:
        raise NotApplicable("its operation declares no relations")
    plain = {name: TensorSpec(bench.case.spec(name).regime) for name in bench.inputs}
    bench = replace(bench, case=replace(bench.case, tensors=plain))
    call = execute(bench)
    dtypes = {name: form.dtype for name, form in bench.operation.forms(bench.case).items()}
    values = {name: decode(array, dtypes[name]) for name, array in bench.inputs.items()}

    def ask(others: Values) -> np.ndarray:
        inputs = {name: np.ascontiguousarray(encode(others[name], dtypes[name])) for name in bench.inputs}
        again = replace(bench, inputs=inputs).call()
        if again.message:
            raise _Failed(again.message)
        return decode(again.results[0].array, again.results[0].dtype)

    for name, relation in relations.items():
        if call.message:
            break
        try:
            followed = relation.follows(ask, values)
        except _Failed as error:
            return replace(call, message=f"{name}: {error}", results=[])
        if followed is None:
            continue
        first = call.results[0]
        results = [Result(encode(followed, first.dtype), first.dtype, first.shape)]
        if difference := differing(call.results, results):
            call.others.append((name, results))
            if relation.exact and _repeats(bench, call):
                call.damage.append(Damage("inconsistent", f"{name}: {difference}"))
    return call


def _repeats(bench: Bench, call: Call) -> bool:
    """Return whether equal calls are to give, and give, equal bits: one that does not breaks another contract."""
    return bench.implementation.deterministic and not differing(call.results, bench.call().results)
