"""How accurate are division and functions, over the points where they are hard?

The reference is golden's: certified functions, in twice the bits of float64 where float64 is under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from golden import doubled
from golden.accuracy import TABLES, Accuracy
from golden.dtypes import decode, dtype_of, encode, ulp
from golden.functions import evaluate
from platforms.profile.answer import Answer, Finding, asked
from platforms.profile.machine import Machine


class Domain(NamedTuple):
    """Where a function is asked: magnitudes from 2**``low`` to 2**``high``, of one sign or both; and near what."""

    low: float
    high: float
    signed: bool = True
    near: tuple[float, ...] = ()
    multiples: float = 0.0


FUNCTIONS: dict[str, Domain] = {
    "sqrt": Domain(-100, 100, signed=False, near=(1.0, 2.0, 4.0)),
    "rsqrt": Domain(-100, 100, signed=False, near=(1.0, 2.0, 4.0)),
    "exp": Domain(-20, 6.44, multiples=float(np.log(2))),
    "exp2": Domain(-20, 6.97, multiples=0.5),
    "log": Domain(-100, 100, signed=False, near=(1.0,)),
    "tanh": Domain(-12, 4, near=(0.5,)),
    "erf": Domain(-12, 2, near=(1.0,)),
    "sin": Domain(-12, 10, multiples=float(np.pi / 2)),
    "sin of large arguments": Domain(10, 60, multiples=float(np.pi / 2) * 4097),
}
"""Domains in which float32 has normal results; a little less than all of them."""

_POINTS = {"float32": 8192, "float64": 1024}


def functions(machine: Machine) -> Iterator[Answer]:
    """Yield the largest error of division and of each function, in ULP of its result."""
    for dtype in _POINTS:
        yield asked("error of divide", dtype, partial(_division, machine, dtype))
        for title, domain in FUNCTIONS.items():
            yield asked(f"error of {title}", dtype, partial(_function, machine, title.split()[0], dtype, domain))


def _function(machine: Machine, name: str, dtype: str, domain: Domain) -> Finding:
    x = points(domain, dtype)
    found = machine.elementwise(name, dtype, x)
    value, tail, _ = evaluate(name, x, doubled=dtype == "float64")
    return _largest(found, value, tail, dtype, x, TABLES["full"][dtype][name])


def _division(machine: Machine, dtype: str) -> Finding:
    x, y = (points(Domain(-20, 20), dtype, seed) for seed in (6, 7))
    found = machine.elementwise("divide", dtype, x, y)
    value, tail = doubled.divide((x, np.zeros_like(x)), (y, np.zeros_like(y)))
    return _largest(found, value, tail, dtype, x, TABLES["full"][dtype]["divide"])


def _largest(
    found: np.ndarray, value: np.ndarray, tail: np.ndarray, dtype: str, x: np.ndarray, accuracy: Accuracy
) -> Finding:
    """Return the largest error, and in the evidence the largest share of what contracts allow."""
    unit = ulp(value, dtype)
    with np.errstate(invalid="ignore"):
        error = np.abs((found - value) - tail) / unit
    error = np.where(np.isfinite(found), error, np.inf)
    allowed = np.maximum(accuracy.ulp + accuracy.slope * np.abs(x), accuracy.absolute / unit)
    worst, furthest = int(error.argmax()), int((error / allowed).argmax())
    largest = float(error[worst])
    evidence = {
        "points": int(error.size),
        "ulp": largest if np.isfinite(largest) else str(largest),
        "at": float(x[worst]),
        "found": str(found[worst]),
        "true": float(value[worst]),
        "exactly rounded": float((error <= 0.5).mean()),
        "within": bool(error[furthest] <= allowed[furthest]),
        "allowed": f"{allowed[furthest]:.2f} ULP at {x[furthest]:.9g}",
    }
    return f"{largest:.2f} ULP" if largest < 1000 else f"{largest:.2g} ULP", evidence


def points(domain: Domain, dtype: str, seed: int = 6) -> np.ndarray:
    """Return numbers of ``dtype`` in ``domain``: of all sizes, around what is hard, and around multiples."""
    count = _POINTS[dtype]
    random = np.random.Generator(np.random.Philox(seed))
    sizes = 2.0 ** random.uniform(domain.low, domain.high, count)
    near = [
        point * (1 + sign * 2.0 ** random.uniform(-dtype_of(dtype).precision, -2, count // 8))
        for point in domain.near
        for sign in (1, -1)
    ]
    most = 2.0**domain.high
    multiples = np.arange(1, count // 8) * domain.multiples
    around = [multiples[(multiples < most) & (multiples > 2.0**domain.low)]] if domain.multiples else []
    numbers = decode(encode(np.concatenate([sizes, *near, *around]), dtype), dtype)
    if domain.signed:
        numbers = numbers * np.where(np.arange(numbers.size) % 2, 1.0, -1.0)
    return numbers
