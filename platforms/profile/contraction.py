"""Is a * b + c, written as one expression, computed with one rounding or two?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from golden.dtypes import FLOATS, dtype_of
from platforms.profile.answer import Answer, Finding, asked, identified
from platforms.profile.exactly import all_rounded
from platforms.profile.machine import Machine

_POINTS = 32


def contraction(machine: Machine) -> Iterator[Answer]:
    """Yield, for each floating dtype, whether the product is rounded before the sum: "fused", "separate", or neither.

    A narrow dtype may also be computed "in float32", with one rounding to the dtype at the end.
    """
    for dtype in FLOATS:
        yield asked("a * b + c", dtype, partial(_contracted, machine, dtype))


def _contracted(machine: Machine, dtype: str) -> Finding:
    kind, single = dtype_of(dtype), dtype_of("float32")
    bits = kind.precision
    random = np.random.Generator(np.random.Philox(4))
    a, b = np.ldexp(random.integers(2 ** (bits - 1), 2**bits, (2, _POINTS)).astype(np.float64), 1 - bits)
    exact = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
    products = all_rounded(exact, kind, "nearest even")
    # What is left of a product when its own rounding is taken away: nothing, if it was rounded.
    c = -products
    c[1::2] += np.where(c[1::2] < -2, 2.0, 1.0) * 2.0 ** (1 - bits)
    predicted = {
        "fused": [x + Fraction(y) for x, y in zip(exact, c, strict=True)],
        "separate": [Fraction(x) + Fraction(y) for x, y in zip(products, c, strict=True)],
    }
    if kind.precision < single.precision:
        rounded = all_rounded(exact, single, "nearest even")
        predicted["in float32"] = [Fraction(x) + Fraction(y) for x, y in zip(rounded, c, strict=True)]
    found = machine.elementwise("multiply_add", dtype, a, b, c)
    # A product of two narrow numbers is exact in float32, so that fused and "in float32" are the same.
    return identified(found, _distinct({name: all_rounded(x, kind, "nearest even") for name, x in predicted.items()}))


def _distinct(predicted: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return ``predicted`` with those that cannot be told apart under one name."""
    names: dict[bytes, list[str]] = {}
    for name, numbers in predicted.items():
        names.setdefault(numbers.tobytes(), []).append(name)
    return {" or ".join(same): predicted[same[0]] for same in names.values()}
