"""One call over ranks, made twice unless it is wanted once: as it comes, and with ranks that begin one after the other.

What differs between the two depends on who comes first. A result that is the same on all ranks must have the same bits
on each.
"""

from __future__ import annotations

from typing import Any

from kernels.spread import Spread
from platforms import wire
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call
from platforms.outcome import Damage
from platforms.platform import Platform
from platforms.ranks.world import World

STEP = 0.003
"""Seconds by which a rank begins after the next one in the second call."""


def call(platform: Platform, bench: Bench, poison: int, canary: int) -> Call:
    """Return what comes of one call of what is on the bench over ranks on ``platform``; raises CallLost."""
    whole = bench.operation
    assert isinstance(whole, Spread)
    first = _once(platform, bench, whole, poison, canary, step=0.0)
    if first.message:
        return first
    if whole.alike:
        first.damage += _unlike(first)
    if bench.once:
        return first
    second = _once(platform, bench, whole, poison, canary, step=STEP)
    if second.message:
        return second
    first.damage += [one for one in second.damage if one not in first.damage]
    if said := differing(first.results, second.results):
        said = said.replace("of result", "of rank")
        if bench.implementation.deterministic:
            first.damage.append(Damage("inconsistent", f"where ranks begin one after the other, {said}"))
        else:
            first.note = f"declared not to be deterministic: where ranks begin one after the other, {said}"
    return first


def _once(platform: Platform, bench: Bench, whole: Spread, poison: int, canary: int, *, step: float) -> Call:
    size = whole.ranks(bench.case)
    world = World.of(platform, size)
    requests: list[dict[str, Any]] = [
        {
            "implementation": bench.implementation.id,
            "case": bench.case.line,
            "inputs": {
                name: wire.array_to_value(values[whole.part(bench.case, name, rank)])
                for name, values in bench.inputs.items()
            },
            "variant": bench.variant,
            "poison": poison,
            "canary": canary,
            "delay": step * (size - 1 - rank),
        }
        for rank in range(size)
    ]
    calls = world.run(requests, bench.limit)
    return Call(
        results=[result for one in calls for result in one.results],
        poisoned=[poisoned for one in calls for poisoned in one.poisoned],
        damage=[Damage(it.kind, f"rank {rank}: {it.detail}") for rank, one in enumerate(calls) for it in one.damage],
        seconds=max(one.seconds for one in calls),
        message="\n".join(f"rank {rank}: {one.message}" for rank, one in enumerate(calls) if one.message),
    )


def _unlike(call: Call) -> list[Damage]:
    """Return which ranks have other bits than the first."""
    unlike = {rank: differing(call.results[:1], [one]) for rank, one in enumerate(call.results)}
    return [Damage("inconsistent", f"rank {rank} is unlike rank 0: {said}") for rank, said in unlike.items() if said]
