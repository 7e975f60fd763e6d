"""The layout of inputs does not matter: the same logical tensors, laid out in other ways, give the same result.

Where results differ in bits, since another layout may be summed up in another order, each is judged.
"""

from __future__ import annotations

from dataclasses import replace

from golden import layout
from golden.case import Case, TensorSpec
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute


def check(bench: Bench) -> Call:
    """Return a call with the layouts of the case; its others are those of other layouts that returned other bits."""
    call = execute(bench)
    for word in _others(bench.case):
        if call.message:
            break
        again = replace(bench, case=_laid_out(bench, word)).call()
        if again.message:
            return replace(again, message=f"inputs {word}: {again.message}")
        call.damage += [replace(one, detail=f"inputs {word}: {one.detail}") for one in again.damage]
        if differing(call.results, again.results):
            call.others.append((f"inputs {word}", again.results))
    return call


def _others(case: Case) -> tuple[str, ...]:
    """Return layouts to compare with those of the case: where a slice is repeated, one that holds each apart."""
    if any(layout.expanded_axis(spec.layout) is not None for spec in case.tensors.values()):
        return ("contiguous",)
    # Two base addresses that are aligned to one and to two elements alone, and any other up to a vector of 16.
    return ("contiguous", "transposed", "sliced2", "offset1", "offset2", f"offset{3 + case.seed % 13}")


def _laid_out(bench: Bench, word: str) -> Case:
    """Return the case with every tensor laid out as ``word`` says, if its shape allows it."""
    return replace(bench.case, tensors={name: _spec(bench, name, word) for name in bench.inputs})


def _spec(bench: Bench, name: str, word: str) -> TensorSpec:
    spec, shape = bench.case.spec(name), bench.inputs[name].shape[bench.operation.spread :]  # of ranks each its own row
    try:
        layout.place(shape, word)
    except layout.LayoutError:
        return replace(spec, layout="contiguous")
    return replace(spec, layout=word)
