"""How a platform computes, asked in a few lines where a verdict depends on it. Runs in the platform's worker.

A probe asks one question with numbers chosen so that each possible answer gives another result, and says "unknown"
when the result is none of them.
"""

from __future__ import annotations

import torch

from platforms.runner import Runner

_SIDE = 16  # a matrix unit's tile, so that the question is put to the unit and not to a scalar fallback
_DEPTH = 256
_APART = 64  # further than one instruction of any known unit sums at once, and than one step of most kernels' loops


def accumulator(*, implementation: str, dtype: str) -> dict[str, str]:
    """Return {"rounding": "nearest" | "truncated" | "unknown"} of the accumulator in a matrix product.

    The question is 1024 + t - 1024, summed along k, in units of float32's last place at 1024, q = 2**-13. With t = q
    the result must be q, or the accumulator has not the 24 bits of float32 and nothing more is asked. With t = 3/4 q
    an accumulator that rounds to nearest gives q, one that truncates gives 0, and any other result (a wider
    accumulator, another order) answers nothing. After the tests of Fasi, Higham, Mikaitis and Pranesh, "Numerical
    behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021.
    """
    unit = 2.0**-13
    whole, part = _between(implementation, dtype, unit), _between(implementation, dtype, 0.75 * unit)
    known = {unit: "nearest", 0.0: "truncated"} if whole == unit else {}
    return {"rounding": known.get(part, "unknown")}


def _between(implementation: str, dtype: str, term: float) -> float:
    """Return what the implementation makes of 1024 + term - 1024."""
    runner = Runner.current
    function = runner.catalogue.implementations[implementation].function
    a, b = torch.zeros(_SIDE, _DEPTH), torch.zeros(_DEPTH, _SIDE)
    for place, (left, right) in enumerate(((32.0, 32.0), (term * 64, 1 / 64), (-32.0, 32.0))):
        a[:, place * _APART], b[place * _APART] = left, right
    kind = getattr(torch, dtype)
    result = function(a.to(runner.platform.device, kind), b.to(runner.platform.device, kind))
    return float(result.cpu()[0, 0])
