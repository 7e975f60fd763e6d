"""The cases of large tensors, for each operation and dtype: one with each tensor far, and some with a huge result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from golden.case import Case, TensorSpec
from golden.frozen import corpus
from golden.inputs import ORDINARY
from kernels.operation import Operation

FAR = (31, 32)
"""Exponents: a signed and an unsigned index of 32 bits overflow there."""

_ROWS, _COLUMNS = 65_600, 32_777

_HUGE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "relu": ({"x": [_ROWS, _COLUMNS]}, {}, "x"),
    "add": ({"x": [_ROWS, _COLUMNS], "y": [_COLUMNS]}, {}, "x"),
    "exp": ({"x": [_ROWS, _COLUMNS]}, {}, "x"),
    "softmax": ({"x": [_ROWS, _COLUMNS]}, {"dim": -1}, "x"),
    "layer_norm": ({"x": [_ROWS, _COLUMNS]}, {"eps": 1e-5}, "x"),
    "rms_norm": ({"x": [_ROWS, _COLUMNS]}, {"eps": 1e-5}, "x"),
    "gemm": ({"m": _ROWS, "n": _COLUMNS, "k": 32}, {}, "a"),
}
"""Dims, parameters and the tensor whose rows are one, seen many times, so that it takes no memory."""


def far_cases(operation: Operation, dtypes: Sequence[str], exponent: int) -> list[Case]:
    """Return a small case of each of ``dtypes`` for each tensor that has two slices or more, which lie far apart."""
    cases = []
    for dtype in dtypes:
        for name in operation.tensors:
            plain = next((case for case in corpus(operation.name) if _fits(operation, case, dtype, name)), None)
            if plain:
                tensors = {one: replace(plain.spec(one), layout="contiguous") for one in plain.tensors}
                tensors[name] = TensorSpec(plain.spec(name).regime, f"far{exponent}")
                cases.append(replace(plain, tensors=tensors))
    return cases


def huge_cases(operation: Operation, dtypes: Sequence[str]) -> list[Case]:
    """Return a case whose result has more than 2**31 elements, of the narrowest of ``dtypes``; none for most."""
    if operation.name not in _HUGE:
        return []
    dims, params, tensor = _HUGE[operation.name]
    narrow = [dtype for dtype in dtypes if dtype in ("float16", "int8")][:2]
    return [Case(operation.name, dtype, dims, params, {tensor: TensorSpec(layout="expanded0")}) for dtype in narrow]


def _fits(operation: Operation, case: Case, dtype: str, tensor: str) -> bool:
    """Whether a case can be had with ``tensor`` far: it has a few slices, ordinary values and a moderate size."""
    if case.dtype != dtype:
        return False
    shapes = operation.shapes(case)
    sizes = [size for size in shapes[tensor] if size > 1]
    if not sizes or sizes[0] > 64 or any(0 in shape for shape in shapes.values()):
        return False
    ordinary = all(case.spec(name).regime in (*ORDINARY, "extremes") for name in shapes)
    return ordinary and all(len(shape) < 5 for shape in shapes.values())
