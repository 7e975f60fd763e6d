"""Are the operands of matrix products taken as they are, or rounded first, to how many bits and how?

A product with one term, of a number and 1, gives the number as the unit saw it, or as its accumulator could hold it: so
what is rounded to as many bits as the accumulator has, or more, tells nothing of the operands. Of those a second
product is asked, whose first term takes away leading bits, or the first of two parts, so that the accumulator can hold
the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from golden.dtypes import dtype_of
from golden.numerics import BFLOAT16_BITS, TF32_BITS
from golden.rounding import MODES, round_significand
from platforms.profile.answer import UNKNOWN, Answer, Finding, asked, identified
from platforms.profile.machine import Machine
from platforms.profile.summation import SIDE

_NAMES = {TF32_BITS: "tf32", BFLOAT16_BITS: "bfloat16", 24: "float32"}
_WORDS = {"nearest": "nearest even", "away": "nearest away", "truncated": "truncated"}
_DEPTH = 32

AS_THEY_ARE = "as they are"
"""The answer where operands lose nothing."""


def operands(machine: Machine, dtype: str) -> Answer:
    """Return how the machine's matrix product of ``dtype`` takes its operands, both of them."""
    numbers = _numbers(dtype)

    def probe() -> Finding:
        predicted = _predicted(numbers, dtype)
        twice = {name: np.tile(seen, 2) for name, (_, seen) in predicted.items()}
        answer, evidence = identified(_both(machine, numbers, dtype), twice)
        if answer == AS_THEY_ARE:
            return answer, evidence
        held = _held(machine, dtype)
        if answer != UNKNOWN and held > predicted[answer][0]:
            return answer, evidence
        for first in _firsts(numbers, dtype, held):
            rest, why = identified(_both(machine, numbers, dtype, first), twice)
            if rest != UNKNOWN and held < predicted[rest][0]:
                return rest, why
        if answer == UNKNOWN:
            return answer, evidence
        return UNKNOWN, {"why": f"the accumulator holds {held} bits, and may be what rounds to {answer}"}

    return asked("operands of products", dtype, probe)


def all_operands(machine: Machine) -> Iterator[Answer]:
    """Yield the answer for the dtypes that have bits to lose."""
    for dtype in ("float32", "float64"):
        yield operands(machine, dtype)


def _numbers(dtype: str) -> np.ndarray:
    """Return numbers of 1 to 2, and their negatives: random ones, and ties of roundings to every number of bits.

    Of the ties some are of what is left of a number when its first bits are taken away, the second of two parts.
    """
    bits = dtype_of(dtype).precision
    random = np.random.Generator(np.random.Philox(2)).integers(2 ** (bits - 1), 2**bits, 64)
    first = [tie for kept in range(2, bits) for tie in _ties(kept)]
    second = [1 + 2.0 ** -(kept + 1) * tie for kept in range(2, bits // 2) for tie in _ties(kept)]
    numbers = np.concatenate([np.ldexp(random.astype(np.float64), 1 - bits), first, second])
    return np.concatenate([numbers, -numbers])


def _ties(bits: int) -> tuple[float, float]:
    """Return two numbers in the middle between neighbours of so many bits: above an even one and above an odd one."""
    return 1 + 2.0**-bits, 1 + 3 * 2.0**-bits


def _firsts(numbers: np.ndarray, dtype: str, held: int) -> Iterator[np.ndarray]:
    """Yield what may be taken away of ``numbers`` so that an accumulator of ``held`` bits can hold the rest: their
    leading bits, or the first of two parts.
    """
    yield round_significand(numbers, held, "truncated")
    for bits in range(2, min(held, dtype_of(dtype).precision // 2)):
        yield from (round_significand(numbers, bits, mode) for mode in MODES)


def _both(machine: Machine, numbers: np.ndarray, dtype: str, first: np.ndarray | None = None) -> np.ndarray:
    """Return ``numbers`` as they are seen on the left and on the right, ``first`` taken away before."""
    away = np.zeros(numbers.shape) if first is None else first
    return np.concatenate([_seen(machine, numbers, dtype, left, away) for left in (True, False)])


def _seen(machine: Machine, numbers: np.ndarray, dtype: str, left: bool, first: np.ndarray) -> np.ndarray:
    side = -(-len(numbers) // SIDE) * SIDE
    matrix, ones = np.zeros((side, _DEPTH)), np.zeros((_DEPTH, SIDE))
    matrix[: len(numbers), 0], matrix[: len(numbers), 1], ones[:2] = -first, numbers, 1.0
    product = machine.product(matrix, ones, dtype) if left else machine.product(ones.T, matrix.T, dtype).T
    return first + product[: len(numbers), 0]


def named(bits: int, mode: str, parts: int = 1) -> str:
    """Return the answer that stands for a way to round operands, one of :class:`golden.precision.Operands`."""
    name = f"{_NAMES.get(bits, f'{bits} bits')}, {_WORDS[mode]}"
    return f"two parts of {name}" if parts == 2 else name


def _predicted(numbers: np.ndarray, dtype: str) -> dict[str, tuple[int, np.ndarray]]:
    """Return by answer how many bits it leaves at most, and what becomes of ``numbers``."""
    precision = dtype_of(dtype).precision
    predicted = {AS_THEY_ARE: (precision, numbers)}
    for bits in range(2, precision):
        for mode in MODES:
            rounded = round_significand(numbers, bits, mode)
            predicted[named(bits, mode)] = bits, rounded
            if 2 * bits + 1 < precision:  # the sign of the second part is one bit more
                second = round_significand(numbers - rounded, bits, mode)
                # The second part may lie anywhere below the first.
                predicted[named(bits, mode, 2)] = precision - 1, rounded + second
    return predicted


def _held(machine: Machine, dtype: str) -> int:
    """Return how many bits a sum of two powers of two keeps, which any operand has."""
    lower = 2.0 ** -np.arange(1, dtype_of(dtype).precision)
    matrix, ones = np.zeros((-(-len(lower) // SIDE) * SIDE, _DEPTH)), np.zeros((_DEPTH, SIDE))
    matrix[: len(lower), 0], matrix[: len(lower), 1], ones[:2] = 1.0, lower, 1.0
    kept = machine.product(matrix, ones, dtype)[: len(lower), 0] == 1 + lower
    return 1 + (len(lower) if kept.all() else int(kept.argmin()))
