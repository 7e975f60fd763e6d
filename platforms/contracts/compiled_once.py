"""Equal calls are compiled once: the second and the third of three compile nothing."""

from __future__ import annotations

from platforms.compilations import counter
from platforms.contracts import NotApplicable
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage


def check(bench: Bench) -> Call:
    """Return the first of three calls; damaged if a later one compiled something."""
    first = execute(bench)
    compiled = counter(bench.implementation.paradigm)
    if compiled is None:
        raise NotApplicable("its paradigm compiles nothing here, or nobody counts it")
    for call in ("second", "third"):
        before = compiled()
        bench.call()
        if times := compiled() - before:
            first.damage.append(Damage("recompiled", f"the {call} of three equal calls compiled {times} times"))
    return first
