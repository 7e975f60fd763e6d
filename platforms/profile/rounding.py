"""In which direction are sums, differences, products and quotients rounded?"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from golden.dtypes import FLOATS, dtype_of
from platforms.profile.answer import Answer, Finding, asked, identified, together
from platforms.profile.exactly import MODES, all_rounded
from platforms.profile.machine import Machine

_OPERATIONS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
_PAIRS = 48


def rounding(machine: Machine) -> Iterator[Answer]:
    """Yield, for each floating dtype, how its arithmetic is rounded."""
    for dtype in FLOATS:
        probes = {name: partial(_direction, machine, name, dtype) for name in _OPERATIONS}
        yield asked("rounding of arithmetic", dtype, partial(together, probes))


def _direction(machine: Machine, name: str, dtype: str) -> Finding:
    """Return how one operation is rounded. A quotient is never a tie: it is the nearest as products are."""
    a, b = _pairs(dtype)
    found = machine.elementwise(name, dtype, a, b)
    predicted = {mode: all_rounded(_exact(name, a, b), dtype_of(dtype), mode) for mode in MODES}
    if dtype == "float64":  # which some devices keep in half of its bits
        narrow = [x.astype(np.float32).astype(np.float64) for x in (a, b)]
        predicted["as float32"] = all_rounded(_exact(name, *narrow), dtype_of("float32"), "nearest even")
    if name == "divide":
        del predicted["nearest even" if _direction(machine, "multiply", dtype)[0] == "nearest away" else "nearest away"]
    return identified(found, predicted)


def _exact(name: str, a: np.ndarray, b: np.ndarray) -> list[Fraction]:
    return [_OPERATIONS[name](Fraction(x), Fraction(y)) for x, y in zip(a, b, strict=True)]


def _pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of both signs: of full significands a few binades apart, and such that sums or products are ties.

    Or that sums are a quarter of the last place off: the nearest is not the next away from zero.
    """
    bits = dtype_of(dtype).precision
    random = np.random.Generator(np.random.Philox(3))
    a, b = np.ldexp(random.integers(2 ** (bits - 1), 2**bits, (2, _PAIRS)).astype(np.float64), 1 - bits)
    places = np.arange(0, _PAIRS, 4)
    a[::4], b[::4] = 1 + places % 8 * 2.0 ** (1 - bits), np.where(places % 16 < 8, 0.5, 0.25) * 2.0 ** (1 - bits)
    a[2::4], b[2::4] = 1.5, 1 + (2 * random.integers(0, 2 ** (bits - 3), a[2::4].size) + 1) * 2.0 ** (1 - bits)
    b[1::4] = np.ldexp(b[1::4], -random.integers(0, bits // 2, b[1::4].size))
    sign = np.where(np.arange(_PAIRS) % 8 < 4, 1.0, -1.0)
    return sign * a, sign * b * np.where(np.arange(_PAIRS) % 3, 1.0, -1.0)
