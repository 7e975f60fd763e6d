"""How a platform computes, asked in a few lines where a verdict depends on it. Runs in the platform's worker.

A probe asks one question with numbers chosen so that each possible answer gives another result, and says "unknown"
when the result is none of them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from platforms.runner import Runner

_SIDE = 16  # a matrix unit's tile, so that the question is put to the unit and not to a scalar fallback
_DEPTH = 256
_APART = (
    64,
    32,
    16,
    8,
)  # how far terms lie apart along k: in one instruction of the unit, or in one accumulator, or not


def matrix_product(*, implementation: str, dtype: str) -> dict[str, str]:
    """Return how an implementation multiplies matrices of ``dtype``; one of another operation than gemm stands for
    the first implementation of gemm in its paradigm.

    ``rounding``, "nearest", "truncated" or "unknown": what its accumulator does with bits that it cannot hold. The
    question is 1024 + t - 1024, summed along k, in units of float32's last place at 1024, q = 2**-13. With t = q the
    result must be q, or the accumulator has not the 24 bits of float32 and nothing more is asked. With t = 3/4 q an
    accumulator that rounds to nearest gives q, one that truncates gives 0, and any other result (a wider accumulator,
    another order) answers nothing. It is asked with terms at several distances, since kernels that keep several sums
    add those up by other means; truncation anywhere is truncation. After the tests of Fasi, Higham, Mikaitis and
    Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021.

    ``subnormals``, "kept", "flushed" or "unknown": what becomes of a subnormal operand that is multiplied by 1.
    """
    multiply = _product_of(implementation)
    answers = {_rounding(multiply, dtype, apart) for apart in _APART}
    subnormal = torch.finfo(getattr(torch, dtype)).tiny / 4
    result = _sum(multiply, dtype, [(subnormal, 1.0)], _APART[0])
    return {
        "rounding": next((answer for answer in ("truncated", "nearest") if answer in answers), "unknown"),
        "subnormals": {subnormal: "kept", 0.0: "flushed"}.get(result, "unknown"),
    }


def _product_of(implementation: str) -> Callable[..., torch.Tensor]:
    known = Runner.current.catalogue.implementations
    operation, paradigm, _ = implementation.split("/")
    if operation == "gemm":
        return known[implementation].function
    return next(one.function for one in known.values() if one.id.startswith(f"gemm/{paradigm}/"))


def _rounding(multiply: Callable[..., torch.Tensor], dtype: str, apart: int) -> str:
    unit = 2.0**-13
    whole, part = (_sum(multiply, dtype, _around(term), apart) for term in (unit, 0.75 * unit))
    return {unit: "nearest", 0.0: "truncated"}.get(part, "unknown") if whole == unit else "unknown"


def _around(term: float) -> list[tuple[float, float]]:
    """Return factors whose products are 1024, ``term`` and -1024."""
    return [(32.0, 32.0), (term * 64, 1 / 64), (-32.0, 32.0)]


def _sum(multiply: Callable[..., torch.Tensor], dtype: str, factors: list[tuple[float, float]], apart: int) -> float:
    """Return what ``multiply`` makes of the sum of the products of ``factors``, in this order and ``apart`` along k."""
    a, b = (torch.zeros(shape, dtype=torch.float64) for shape in ((_SIDE, _DEPTH), (_DEPTH, _SIDE)))
    for place, (left, right) in enumerate(factors):
        a[:, place * apart], b[place * apart] = left, right
    kind = getattr(torch, dtype)
    result = multiply(*(matrix.to(kind).to(Runner.current.platform.device) for matrix in (a, b)))
    return float(result.cpu()[0, 0])
