"""Equal calls give equal bits, unless the implementation declares that they do not: then how far apart is told."""

from __future__ import annotations

import time

import numpy as np

from golden.dtypes import decode
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage, Result

CALLS = 30
"""How often the same is asked, where there is time for it."""

_LEAST, _SECONDS, _SECONDS_BEYOND = 3, 0.2, 1.0
"""How many calls there are in any case, and for how long there are more: longer where they take several waves."""


def check(bench: Bench) -> Call:
    """Return the first call; damaged if a later one returned other bits and nobody has declared that it may."""
    call = execute(bench)
    if call.message:
        return call
    beyond = 0 < bench.platform.wave < max(array.size for array in bench.inputs.values())
    deadline = time.monotonic() + (_SECONDS_BEYOND if beyond else _SECONDS)
    calls, different = 1, list[list[Result]]()
    while calls < _LEAST or (calls < CALLS and time.monotonic() < deadline):
        again, calls = bench.call(), calls + 1
        if again.message:
            return again
        if differing(call.results, again.results):
            different.append(again.results)
    if different:
        said = f"{len(different)} of {calls} equal calls return other bits than the first: "
        said += differing(call.results, different[0])
        if bench.implementation.deterministic:
            call.damage.append(Damage("inconsistent", said))
        else:
            call.note = (
                f"declared not to be deterministic: {said}, at most {_spread(call.results, different):.3g} apart"
            )
            call.others = [("called again", results) for results in different[:1]]
    return call


def _spread(first: list[Result], others: list[list[Result]]) -> float:
    """Return the largest difference of finite elements."""
    widest = 0.0
    for results in others:
        for one, other in zip(first, results, strict=True):
            left, right = (decode(part.array, part.dtype).astype(np.float64) for part in (one, other))
            finite = np.isfinite(left) & np.isfinite(right)
            widest = max(widest, float(np.abs(left - right).max(where=finite, initial=0.0)))
    return widest
