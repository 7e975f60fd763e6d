"""The cases of large tensors: for each operation and dtype a tensor far, a huge result, and very many tiny rows."""

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

MANY = (65_536, 70_000)
"""Numbers of rows: an axis of a grid holds 65535 on some devices, and an index of 16 bits no more."""

_FEWEST, _MOST = 4, 64  # slices: with 4, even a stride of far32 fits into 32 bits; with many, many pages are touched

_ROWS, _MIDDLE, _COLUMNS = 65_600, 541, 61  # the last two are primes, so that an index that wraps around meets others
_WIDTH = _MIDDLE * _COLUMNS

_FUNCTION = {"x": [_ROWS, _MIDDLE, _COLUMNS]}
_PRODUCT = {"m": _ROWS, "n": _WIDTH, "k": 32}

HUGE_DIMS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "add": ({"x": [_ROWS, 1], "y": [1, _WIDTH]}, {}, ""),
    "dequant_gemm": (_PRODUCT, {"bits": 8, "group_size": 32}, ""),
    "exp": (_FUNCTION, {}, "x"),
    "gelu": (_FUNCTION, {"approximate": "none"}, "x"),
    "gemm": (_PRODUCT, {}, ""),
    "layer_norm": (_FUNCTION, {"eps": 1e-5}, "x"),
    "relu": (_FUNCTION, {}, "x"),
    "rms_norm": (_FUNCTION, {"eps": 1e-5}, "x"),
    "log_softmax": (_FUNCTION, {"dim": -1}, "x"),
    "round": (_FUNCTION, {}, "x"),
    "silu": (_FUNCTION, {}, "x"),
    "softcap": (_FUNCTION, {"cap": 1.5}, "x"),
    "softmax": (_FUNCTION, {"dim": -1}, "x"),
    "tanh": (_FUNCTION, {}, "x"),
}
"""Dims, parameters, and the tensor whose middle axis is expanded, so that its first rows all differ in little memory.

Operands that are broadcast or multiplied need no such thing: all of a result differs where a row differs from a row and
a column from a column.
"""

_ATTENTION = {"causal": False, "scale": None, "softcap": None, "window": None}

TINY_DIMS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "add": ({}, [{"x": [0, 2], "y": [0, 2]}]),
    "attention": (
        _ATTENTION,
        [
            {"b": 0, "h": 1, "hk": 1, "sq": 1, "sk": 2, "d": 1},
            {"b": 1, "h": 0, "hk": 1, "sq": 1, "sk": 2, "d": 1},
            {"b": 1, "h": 1, "hk": 1, "sq": 0, "sk": 2, "d": 1},
        ],
    ),
    "attention_backward": (_ATTENTION, [{"b": 0, "h": 1, "hk": 1, "sq": 1, "sk": 2, "d": 1}]),
    "cast": ({"dtype": "float32"}, [{"x": [0, 2]}]),
    "causal_softmax": ({}, [{"x": [0, 2, 2]}]),
    "clamp": ({"min": -1, "max": 1}, [{"x": [0, 2]}]),
    "conv2d": (
        {"stride": 1, "padding": 0},
        [{"images": 0, "channels": 1, "h": 2, "w": 1, "outputs": 1, "taps_h": 1, "taps_w": 1}],
    ),
    "cross_entropy": ({}, [{"rows": 0, "classes": 3}]),
    "cross_entropy_backward": ({}, [{"rows": 0, "classes": 3}]),
    "cumsum": ({"dim": -1, "reverse": False}, [{"x": [0, 3]}]),
    "dequant_gemm": ({"bits": 8, "group_size": 2}, [{"m": 0, "n": 2, "k": 2}, {"m": 1, "n": 0, "k": 2}]),
    "embedding": ({}, [{"rows": 3, "columns": 2, "index": [0]}]),
    "exp": ({}, [{"x": [0, 2]}]),
    "floor_divide": ({}, [{"x": [0, 2], "y": [0, 2]}]),
    "fp8_gemm": ({}, [{"m": 0, "n": 2, "k": 2}, {"m": 1, "n": 0, "k": 2}]),
    "gelu": ({"approximate": "none"}, [{"x": [0, 2]}]),
    "gelu_backward": ({"approximate": "none"}, [{"grad": [0, 2]}]),
    "gemm": (
        {},
        [{"batch": 0, "m": 1, "n": 2, "k": 2}, {"m": 0, "n": 2, "k": 2}, {"m": 1, "n": 0, "k": 2}],
    ),
    "gemm_bias": ({}, [{"m": 0, "n": 2, "k": 2}, {"m": 1, "n": 0, "k": 2}]),
    "grouped_gemm": ({}, [{"groups": [0], "n": 2, "k": 2}]),
    "index_copy": ({}, [{"rows": 0, "count": 3, "columns": 2}, {"rows": 0, "count": 0, "columns": 1}]),
    "linear_scan": ({}, [{"a": [0, 2]}]),
    "masked_fill": ({"value": -1}, [{"x": [0, 2], "mask": [0, 2]}]),
    "quantize_fp8": ({"format": "e4m3"}, [{"x": [0, 2]}]),
    "remainder": ({}, [{"x": [0, 2], "y": [0, 2]}]),
    "rope": ({}, [{"b": 0, "h": 1, "s": 1, "d": 2, "r": 2}, {"b": 1, "h": 1, "s": 0, "d": 2, "r": 2}]),
    "scatter_add": ({}, [{"rows": 0, "count": 3, "columns": 2}, {"rows": 2, "count": 0, "columns": 1}]),
    "shift_right": ({}, [{"x": [0, 2], "y": [0, 2]}]),
    "silu_backward": ({}, [{"grad": [0, 2]}]),
    "softcap": ({"cap": 1.5}, [{"x": [0, 2]}]),
    "sort": ({"dim": -1, "descending": False}, [{"x": [0, 3]}]),
    "swiglu": ({}, [{"gate": [0, 2]}]),
    "swiglu_backward": ({}, [{"grad": [0, 2]}]),
    "topk": ({"k": 2}, [{"x": [0, 3]}]),
    "transpose": ({}, [{"x": [0, 2]}, {"x": [2, 0]}, {"x": [0, 1, 2]}]),
    "unpack_int4": ({}, [{"packed": [0, 2]}]),
    **dict.fromkeys(
        ("layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward"), ({"eps": 1e-5}, [{"x": [0, 3]}])
    ),
    **dict.fromkeys(("relu", "round", "silu", "tanh", "quantize_int8"), ({}, [{"x": [0, 2]}])),
    **dict.fromkeys(
        ("argmax", "argmin", "log_softmax", "log_softmax_backward", "max", "softmax", "softmax_backward", "sum"),
        ({"dim": -1}, [{"x": [0, 3]}]),
    ),
    "var_mean": ({"dim": -1}, [{"x": [0, 3]}]),
}
"""Parameters, and dims in which 0 stands for the number of rows; each axis that a grid may have is theirs in turn."""


def far_cases(operation: Operation, dtypes: Sequence[str], exponent: int) -> list[Case]:
    """Return a small case of each of ``dtypes`` for each tensor that has two slices or more, which lie far apart."""
    cases = []
    known = [case for case in corpus(operation.name) if case.dtype in dtypes and _is_plain(operation, case)]
    for dtype in dtypes:
        for name in operation.tensors:
            # The frozen cases are few: those of another dtype do as well, where there is none of this one.
            own = [case for case in known if case.dtype == dtype]
            others = [replace(case, dtype=dtype, tensors={}) for case in known if case.dtype != dtype]
            slices = {case: _slices(operation, case, name) for case in [*own, *others]}
            fit = [case for case, count in slices.items() if 1 < count <= _MOST]
            if fit:
                plain = next((case for case in fit if slices[case] >= _FEWEST), fit[0])
                tensors = {one: replace(plain.spec(one), layout="contiguous") for one in plain.tensors}
                tensors[name] = TensorSpec(plain.spec(name).regime, f"far{exponent}")
                cases.append(replace(plain, tensors=tensors))
    return cases


def huge_cases(operation: Operation, dtypes: Sequence[str]) -> list[Case]:
    """Return cases of the narrowest of ``dtypes`` whose result has more than 2**31 elements; none for some."""
    if operation.name not in HUGE_DIMS:
        return []
    dims, params, tensor = HUGE_DIMS[operation.name]
    tensors = {tensor: TensorSpec(layout="expanded1")} if tensor else {}
    narrow = [dtype for dtype in dtypes if dtype in ("float16", "int8")]
    return [Case(operation.name, dtype, dims, params, tensors) for dtype in narrow]


def many_cases(operation: Operation, dtypes: Sequence[str]) -> list[Case]:
    """Return cases of very many tiny rows, of each of ``dtypes``; none for an operation that is not known here."""
    if operation.name not in TINY_DIMS:
        return []
    params, several = TINY_DIMS[operation.name]
    sizes = [(dims, rows) for place, dims in enumerate(several) for rows in (MANY if not place else MANY[-1:])]
    return [Case(operation.name, dtype, _with_rows(dims, rows), params) for dtype in dtypes for dims, rows in sizes]


def _with_rows(dims: dict[str, Any], rows: int) -> dict[str, Any]:
    return {
        name: [one or rows for one in size] if isinstance(size, list) else size or rows for name, size in dims.items()
    }


def _is_plain(operation: Operation, case: Case) -> bool:
    """Whether a case is not empty, and its values are ordinary."""
    ordinary = (*ORDINARY, "extremes")
    return all(0 not in shape and case.spec(name).regime in ordinary for name, shape in operation.shapes(case).items())


def _slices(operation: Operation, case: Case, tensor: str) -> int:
    """Return how many slices of ``tensor`` would lie far apart."""
    return next((size for size in operation.shapes(case)[tensor] if size > 1), 0)
