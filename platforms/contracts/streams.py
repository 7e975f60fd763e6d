"""Work goes to the caller's stream, behind what is in it already, and what is returned is there when that is done.

The stream is not the default one, and busy: the inputs arrive in it after a while, and the result is copied in it at
once. What runs elsewhere finds old inputs; what returns before its work is done in the stream is copied unwritten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from platforms.contracts import NotApplicable
from platforms.contracts.inputs import another, on_device, write
from platforms.execution import Bench, Call, execute


def check(bench: Bench) -> Call:
    """Return a call on a busy stream; a kernel that ran elsewhere, or is not done, has wrong or unwritten elements."""
    return execute(replace(bench, variant="streams"))


def varied(bench: Bench, poison: int, canary: int) -> Call:
    """Return a call on a busy stream; raises NotApplicable where the platform declares none."""
    platform = bench.platform
    beside = platform.beside()
    if beside is None:
        raise NotApplicable(f"platform {platform.name} declares no streams")
    others = another(bench)

    def run(*tensors: Any, **params: Any) -> Any:
        arriving = on_device(tensors, bench.inputs)
        write(tensors, on_device(tensors, others))
        platform.synchronize()
        with beside:
            platform.occupy()
            write(tensors, arriving)
            result = bench.function(*tensors, **params)
            return tuple(one.clone() for one in result) if isinstance(result, tuple) else result.clone()

    bench.call()  # what is compiled at the first call would give the stream time
    return replace(bench, function=run).call(poison=poison, canary=canary)
