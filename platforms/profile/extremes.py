"""NaN and zeros of both signs, in the operations where machines differ about them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from platforms.profile.answer import Answer, Finding, asked, identified
from platforms.profile.machine import Machine

_DTYPES = ("float32", "float16")


def extremes(machine: Machine) -> Iterator[Answer]:
    """Yield what maximum and minimum make of NaN and of two zeros, and the signs of zeros in sums and products."""
    for dtype in _DTYPES:
        for name in ("maximum", "minimum"):
            yield asked(f"{name} with NaN", dtype, partial(_with_nan, machine, name, dtype))
            yield asked(f"{name} of +0 and -0", dtype, partial(_of_zeros, machine, name, dtype))
        yield asked("sign of zero in arithmetic", dtype, partial(_arithmetic, machine, dtype))
        yield asked("sum of negative zeros", dtype, partial(_sum, machine, dtype))
        yield asked("product of -0 and 1, summed", dtype, partial(_product, machine, dtype))


def _with_nan(machine: Machine, name: str, dtype: str) -> Finding:
    a, b = np.array([np.nan, 1.0, np.nan, -1.0]), np.array([1.0, np.nan, np.nan, np.nan])
    predicted = {
        "NaN": np.full(4, np.nan),
        "the number": np.array([1.0, 1.0, np.nan, -1.0]),
        "the second operand": b,
        "the first operand": a,
    }
    return identified(machine.elementwise(name, dtype, a, b), predicted)


def _of_zeros(machine: Machine, name: str, dtype: str) -> Finding:
    a, b = np.array([0.0, -0.0]), np.array([-0.0, 0.0])
    predicted = {"+0": np.zeros(2), "-0": np.full(2, -0.0), "the first operand": a, "the second operand": b}
    return identified(machine.elementwise(name, dtype, a, b), predicted, signed_zeros=True)


def _arithmetic(machine: Machine, dtype: str) -> Finding:
    """Ask for -0 * 1, -0 + -0, -0 + 0 and 1 - 1, of which IEEE 754 makes -0, -0, 0 and 0."""
    found = np.concatenate(
        [
            machine.elementwise("multiply", dtype, np.array([-0.0]), np.array([1.0])),
            machine.elementwise("add", dtype, np.array([-0.0, -0.0]), np.array([-0.0, 0.0])),
            machine.elementwise("subtract", dtype, np.array([1.0]), np.array([1.0])),
        ]
    )
    predicted = {"as IEEE 754 says": np.array([-0.0, -0.0, 0.0, 0.0]), "lost": np.zeros(4)}
    return identified(found, predicted, signed_zeros=True)


def _sum(machine: Machine, dtype: str) -> Finding:
    return _signed(machine.sums(np.full((1, 8), -0.0), dtype))


def _product(machine: Machine, dtype: str) -> Finding:
    a, b = np.full((16, 16), -0.0), np.ones((16, 16))
    return _signed(machine.product(a, b, dtype)[0, :1])


def _signed(found: np.ndarray) -> Finding:
    return identified(found, {"+0": np.array([0.0]), "-0": np.array([-0.0])}, signed_zeros=True)
