"""How are numbers converted to narrower dtypes: rounding, overflow, subnormal results?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from golden.dtypes import DType, dtype_of
from platforms.profile.answer import Answer, Finding, asked, identified
from platforms.profile.exactly import MODES, all_rounded
from platforms.profile.machine import Machine

PAIRS = (
    ("float64", "float32"),
    ("float64", "float16"),
    ("float64", "bfloat16"),
    ("float32", "float16"),
    ("float32", "bfloat16"),
    ("float32", "float8_e4m3fn"),
    ("float32", "float8_e5m2"),
    ("float16", "float8_e4m3fn"),
    ("int64", "float32"),
    ("int32", "float32"),
)
"""Conversions that lose something."""

_PARTS = (0.0, 0.125, 0.25, 0.5, 0.625, 0.75)  # of the target's last place
_NUMBERS = 12


def conversions(machine: Machine) -> Iterator[Answer]:
    """Yield rounding, overflow and subnormal results of every conversion."""
    for source, target in PAIRS:
        subject = f"{source} to {target}"
        yield asked("rounding of conversions", subject, partial(_direction, machine, source, target))
        if dtype_of(source).is_float:
            yield asked("overflow of conversions", subject, partial(_overflow, machine, source, target))
            yield asked("subnormal results of conversions", subject, partial(_subnormal, machine, source, target))


def _direction(machine: Machine, source: str, target: str) -> Finding:
    kind = dtype_of(target)
    numbers = _numbers(dtype_of(source), kind)
    found = machine.convert(numbers, source, target)
    exact = [Fraction(number) if dtype_of(source).is_float else Fraction(int(number)) for number in numbers]
    predicted = {mode: all_rounded(exact, kind, mode) for mode in MODES}
    once = all_rounded(exact, dtype_of("float32"), "nearest even")
    twice = all_rounded(map(Fraction, once), kind, "nearest even")
    if not np.array_equal(twice, predicted["nearest even"]):
        predicted["nearest even, through float32"] = twice
    return identified(found, predicted)


def _numbers(source: DType, target: DType) -> np.ndarray:
    """Return normal numbers of ``source`` between those of ``target``, and close to the middle if there is room."""
    bits = target.precision
    random = np.random.Generator(np.random.Philox(5))
    whole = random.integers(2 ** (bits - 1), 2**bits, (_NUMBERS, 1))
    spare = source.precision - bits
    close = [0.5 + 2.0 ** -(spare - 1), 0.5 - 2.0 ** -(spare - 1)] if spare > 24 else []
    numbers = (whole + np.array([*_PARTS, *close])).reshape(-1)
    numbers = np.concatenate([numbers, -numbers])
    if source.is_float:
        return np.ldexp(numbers, random.integers(-2, 3, numbers.shape) - bits)
    return (numbers * 8).astype(np.int64)  # which makes all the parts whole


def _overflow(machine: Machine, source: str, target: str) -> Finding:
    kind = dtype_of(target)
    beyond = np.array([kind.largest * 1.5, 2.0**kind.emax * 3, -(2.0**kind.emax) * 3])
    finite = machine.convert(beyond, source, target)
    infinite = machine.convert(np.array([np.inf, -np.inf]), source, target)
    ends: Mapping[str, float] = {"an infinity": np.inf, "NaN": np.nan, "the largest number": kind.largest}
    (of_finite, why), (of_infinite, _) = (
        identified(found, {name: np.copysign(end, sign) for name, end in ends.items()})
        for found, sign in ((finite, beyond), (infinite, np.array([1.0, -1.0])))
    )
    answer = of_finite if of_finite == of_infinite else f"{of_finite}; of an infinity, {of_infinite}"
    return answer, why


def _subnormal(machine: Machine, source: str, target: str) -> Finding:
    kind = dtype_of(target)
    numbers = np.array([0.25, 0.5, 0.75, -0.5]) * kind.smallest_normal
    found = machine.convert(numbers, source, target)
    return identified(found, {"kept": numbers, "flushed": np.zeros(numbers.shape)})
