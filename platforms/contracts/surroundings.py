"""What lies around tensors does not matter: a kernel reads nothing that is not there.

The bands around inputs and allocated tensors, and the gaps between rows, hold NaN in one call and a number in another.
A kernel that reads there and multiplies by zero what it has read, or takes the maximum with it, gives itself away.
"""

from __future__ import annotations

from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage
from platforms.patterns import CANARY, NUMBER


def check(bench: Bench) -> Call:
    """Return a call among NaNs; damaged if one among numbers returns something else."""
    call = execute(bench)
    other = bench.call(canary=NUMBER)
    if call.message or other.message:
        return call if call.message else other
    call.damage += [one for one in other.damage if one not in call.damage]
    difference = differing(call.results, other.results)
    if difference and _repeats(bench, {CANARY: call, NUMBER: other}):
        call.damage.append(Damage("out of bounds", f"it reads around its tensors: with others there {difference}"))
    return call


def _repeats(bench: Bench, known: dict[int, Call]) -> bool:
    """Return whether each surroundings bring about the same again: else they are not to blame."""
    turns = (NUMBER, CANARY, CANARY, NUMBER)
    return not any(differing(known[canary].results, bench.call(canary=canary).results) for canary in turns)
