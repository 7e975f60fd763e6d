"""Are the operands of matrix products taken as they are, or rounded first, to how many bits and how?

A product with one term, of a number and 1, gives the number as the unit saw it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from golden.dtypes import dtype_of
from golden.numerics import BFLOAT16_BITS, TF32_BITS
from golden.rounding import MODES, round_significand
from platforms.profile.answer import Answer, Finding, asked, identified
from platforms.profile.machine import Machine
from platforms.profile.summation import SIDE

_NAMES = {TF32_BITS: "tf32", BFLOAT16_BITS: "bfloat16", 24: "float32"}
_WORDS = {"nearest": "nearest even", "away": "nearest away", "truncated": "truncated"}
_DEPTH = 32


def operands(machine: Machine, dtype: str) -> Answer:
    """Return how the machine's matrix product of ``dtype`` takes its operands, both of them."""
    numbers = _numbers(dtype)

    def probe() -> Finding:
        found = np.concatenate([_seen(machine, numbers, dtype, left) for left in (True, False)])
        return identified(found, {name: np.tile(seen, 2) for name, seen in _predicted(numbers, dtype).items()})

    return asked("operands of products", dtype, probe)


def all_operands(machine: Machine) -> Iterator[Answer]:
    """Yield the answer for the dtypes that have bits to lose."""
    for dtype in ("float32", "float64"):
        yield operands(machine, dtype)


def _numbers(dtype: str) -> np.ndarray:
    """Return numbers of 1 to 2, and their negatives: random ones, and ties of roundings to every number of bits."""
    bits = dtype_of(dtype).precision
    random = np.random.Generator(np.random.Philox(2)).integers(2 ** (bits - 1), 2**bits, 64)
    ties = [
        2 ** (bits - 1) + odd * 2 ** (bits - kept) + 2 ** (bits - kept - 1) for kept in range(2, bits) for odd in (0, 1)
    ]
    numbers = np.ldexp(np.concatenate([random, np.array(ties)]).astype(np.float64), 1 - bits)
    return np.concatenate([numbers, -numbers])


def _seen(machine: Machine, numbers: np.ndarray, dtype: str, left: bool) -> np.ndarray:
    side = -(-len(numbers) // SIDE) * SIDE
    matrix, ones = np.zeros((side, _DEPTH)), np.zeros((_DEPTH, SIDE))
    matrix[: len(numbers), 0], ones[0] = numbers, 1.0
    product = machine.product(matrix, ones, dtype) if left else machine.product(ones.T, matrix.T, dtype).T
    return product[: len(numbers), 0]


def _predicted(numbers: np.ndarray, dtype: str) -> dict[str, np.ndarray]:
    predicted = {"as they are": numbers}
    for bits in range(2, dtype_of(dtype).precision):
        for mode in MODES:
            rounded = round_significand(numbers, bits, mode)
            predicted[f"{_NAMES.get(bits, f'{bits} bits')}, {_WORDS[mode]}"] = rounded
            if 2 * bits + 1 < dtype_of(dtype).precision:  # the sign of the second part is one bit more
                rest = round_significand(numbers - rounded, bits, mode)
                predicted[f"two parts of {_NAMES.get(bits, f'{bits} bits')}, {_WORDS[mode]}"] = rounded + rest
    return predicted
