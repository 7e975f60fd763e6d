"""Integers where machines differ: made of floats out of range, divided, shifted by as many bits as they have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from golden.dtypes import dtype_of
from platforms.profile.answer import Answer, Finding, asked, identified
from platforms.profile.machine import Machine

_TARGETS = ("int64", "int32", "int8", "uint8")
_DTYPES = ("int32", "int64")


def integers(machine: Machine) -> Iterator[Answer]:
    """Yield what floats out of range and NaN become, what // and % make of negative numbers, and long shifts."""
    for target in _TARGETS:
        yield asked("float32 out of range as integer", target, partial(_out_of_range, machine, target))
        yield asked("NaN as integer", target, partial(_nan, machine, target))
    for dtype in _DTYPES:
        yield asked("//", dtype, partial(_division, machine, dtype))
        yield asked("%", dtype, partial(_remainder, machine, dtype))
        yield asked("1 << bits of the dtype", dtype, partial(_shift, machine, "shift_left", dtype, 1))
        yield asked("-1 >> bits of the dtype", dtype, partial(_shift, machine, "shift_right", dtype, -1))


def _out_of_range(machine: Machine, target: str) -> Finding:
    ends = np.iinfo(dtype_of(target).storage)
    numbers = np.array([float(ends.max) + 1, float(ends.max) * 4 + 3, -(float(ends.max) + 1) * 3, 2.0**70, -(2.0**70)])
    numbers = numbers.astype(np.float32).astype(np.float64)
    exact = [int(number) for number in numbers]
    width = 8 * dtype_of(target).itemsize
    saturated = [int(min(max(number, ends.min), ends.max)) for number in exact]
    predicted = {"saturates": saturated, "wraps around": [_wrapped(number, width) for number in exact]}
    if width < 64:  # by way of a wider integer, which is itself out of range for the largest numbers
        for wider in {32, 64} - {width}:
            least, most = -(2 ** (wider - 1)), 2 ** (wider - 1) - 1
            indefinite = [number if least <= number <= most else least for number in exact]
            clamped = [min(max(number, least), most) for number in exact]
            predicted[f"the low bits of int{wider}, which becomes its least"] = [
                _low(one, target) for one in indefinite
            ]
            predicted[f"the low bits of int{wider}, which saturates"] = [_low(one, target) for one in clamped]
    predicted["the least integer"] = [int(ends.min)] * len(exact)
    found = machine.convert(numbers, "float32", target)
    distinct: dict[bytes, tuple[str, np.ndarray]] = {}
    for name, values in predicted.items():
        array = np.array([_low(value, target) for value in values], np.int64)
        distinct.setdefault(array.tobytes(), (name, array))
    answer, evidence = identified(found, dict(distinct.values()))
    return answer, {**evidence, "of": numbers.tolist(), "found": found.tolist()}


def _nan(machine: Machine, target: str) -> Finding:
    found = int(machine.convert(np.array([np.nan]), "float32", target)[0])
    ends = np.iinfo(dtype_of(target).storage)
    words = {int(ends.min): "the least integer", int(ends.max): "the largest integer", 0: "0"}
    return words.get(found, str(found)), {"found": found}


def _division(machine: Machine, dtype: str) -> Finding:
    a, b = _signed_pairs()
    predicted = {"rounds down": a // b, "rounds toward zero": np.trunc(a / b).astype(np.int64)}
    return identified(machine.elementwise("floor_divide", dtype, a, b), predicted)


def _remainder(machine: Machine, dtype: str) -> Finding:
    a, b = _signed_pairs()
    predicted = {"has the divisor's sign": a - a // b * b, "has the dividend's sign": np.fmod(a, b)}
    return identified(machine.elementwise("remainder", dtype, a, b), predicted)


def _signed_pairs() -> tuple[np.ndarray, np.ndarray]:
    return np.array([7, -7, 7, -7, 6, -6]), np.array([2, 2, -2, -2, 3, 3])


def _shift(machine: Machine, name: str, dtype: str, number: int) -> Finding:
    width = 8 * dtype_of(dtype).itemsize
    found = machine.elementwise(name, dtype, np.array([number, number]), np.array([width, width + 1]))
    one_more = number * 2 if name == "shift_left" else number >> 1
    predicted = {"0": [0, 0], "the count wraps around": [number, one_more]}
    if name == "shift_right":
        predicted = {"0": [0, 0], "the sign": [-1, -1]}  # a count that wraps around shifts signs in as well
    return identified(found, {answer: np.array(values) for answer, values in predicted.items()})


def _wrapped(number: int, width: int) -> int:
    return (number + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)


def _low(number: int, target: str) -> int:
    """Return the low bits of ``number`` as the integer of dtype ``target`` that they are."""
    kind = dtype_of(target)
    width = 8 * kind.itemsize
    return number % 2**width if kind.storage.kind == "u" else _wrapped(number, width)
