"""What ranks make of a message does not depend on what is sent with it: how long it is all in all, and where it lies.

The message is sent within longer ones, among other values: what comes of it there is right as well. That it is the same
in every bit is measured, and judged where an implementation declares it.
"""

from __future__ import annotations

from dataclasses import replace

from golden.case import TensorSpec
from golden.inputs import make_inputs
from kernels.spread import Spread
from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage, Result

_PLACES = (
    ("at the start of a longer message", 0, 13),
    ("in the middle of a longer message", 3, 2),
    ("at the end of a long message", 1021, 0),
)
"""What is said of a place, and how many columns lie before and behind it."""


def check(bench: Bench) -> Call:
    """Return a call; its others are what came of the same in longer messages with other bits."""
    whole = bench.operation
    if not isinstance(whole, Spread):
        raise NotApplicable("it sends no message")
    if bench.case.dims[whole.message[0]] == []:
        raise NotApplicable("its message has no axis along which it could be longer")
    plain = {name: TensorSpec(bench.case.spec(name).regime) for name in bench.inputs}
    bench = replace(bench, case=replace(bench.case, tensors=plain))
    call = execute(bench)
    for said, before, behind in _PLACES:
        if call.message:
            break
        again = _within(bench, whole, before, behind)
        if again.message:
            return replace(again, message=f"{said}: {again.message}")
        call.damage += [replace(damage, detail=f"{said}: {damage.detail}") for damage in again.damage]
        results = [_cut(one, like, before) for one, like in zip(again.results, call.results, strict=True)]
        if difference := differing(call.results, results):
            call.others.append((said, results))
            difference = difference.replace("of result", "of rank")
            if bench.implementation.batch_invariant:
                call.damage.append(Damage("inconsistent", f"{said}: {difference}"))
            else:
                call.note = f"bits depend on the message: {said}: {difference}"
    return call


def _within(bench: Bench, whole: Spread, before: int, behind: int) -> Call:
    """Return a call with so many columns of other values before and behind those of the case."""
    longer = whole.longer(replace(bench.case, seed=bench.case.seed + 1), before + behind)
    inputs = make_inputs(longer, whole.forms(longer))
    _, tensor = whole.message
    for name, values in bench.inputs.items():
        if name == tensor:
            inputs[name][..., before : before + values.shape[-1]] = values
        else:
            inputs[name] = values
    return replace(bench, case=longer, inputs=inputs).call()


def _cut(result: Result, like: Result, before: int) -> Result:
    """Return the columns of ``result`` that ``like`` has."""
    return Result(result.array[..., before : before + like.shape[-1]].copy(), result.dtype, like.shape)
