"""Dims and parameters of every operation at a size of rows and columns, as suites have them that list their shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Dims = tuple[dict[str, Any], dict[str, Any]]
Maker = Callable[[int, int], Dims]


def _of(*names: str, **params: Any) -> Maker:
    return lambda rows, columns: ({name: [rows, columns] for name in names}, params)


def _product(**params: Any) -> Maker:
    return lambda rows, columns: ({"m": rows, "n": min(rows, 128), "k": columns}, params)


def _attention(rows: int, columns: int) -> Dims:
    length, size = min(rows, 128), min(columns, 64)
    params = {"causal": True, "scale": None, "softcap": None, "window": None}
    return {"b": 1, "h": 4, "hk": 2, "sq": length, "sk": length, "d": size}, params


def _varlen(rows: int, columns: int) -> Dims:
    lengths = [min(rows, 64), max(min(rows, 64) // 2, 1)]
    return {"h": 4, "hk": 2, "d": min(columns, 64), "sq": lengths, "sk": lengths}, {"causal": True, "scale": None}


def _decode(rows: int, columns: int) -> Dims:
    length = min(rows, 128)
    return {"h": 4, "hk": 2, "s": length, "d": min(columns, 64), "lengths": [length, length]}, {"scale": None}


def _paged(rows: int, columns: int) -> Dims:
    slots = max(min(rows, 128) // 16, 1)
    dims = {"h": 4, "hk": 2, "d": min(columns, 64), "pages": 2 * slots, "page": 16, "slots": slots}
    return {**dims, "lengths": [16 * slots, 16 * slots]}, {"scale": None}


def _image(rows: int, columns: int) -> Dims:
    side = max(4, min(32, math.isqrt(columns)))
    dims = {"images": 2, "channels": min(rows, 8), "h": side, "w": side, "outputs": 8, "taps_h": 3, "taps_w": 3}
    return dims, {"stride": 1, "padding": 1}


def _squares(rows: int, columns: int) -> Dims:
    side = min(max(rows, columns), 128)
    return {"x": [2, side, side]}, {}


def _grouped(rows: int, columns: int) -> Dims:
    return {"groups": [rows // 2, rows - rows // 2], "n": min(rows, 64), "k": columns}, {}


def _dequant(rows: int, columns: int) -> Dims:
    group = 32 if columns % 32 == 0 else 2
    return {"m": rows, "n": min(rows, 128), "k": columns // group * group}, {"bits": 4, "group_size": group}


def _moved(rows: int, columns: int) -> Dims:
    return {"rows": rows, "count": max(rows // 2, 1), "columns": columns}, {}


WORKLOADS: dict[str, Maker] = {
    "add": _of("x", "y"),
    "attention": _attention,
    "attention_backward": _attention,
    "cast": _of("x", dtype="bfloat16"),
    "causal_softmax": _squares,
    "clamp": _of("x", min=-1, max=1),
    "conv2d": _image,
    "cross_entropy": lambda rows, columns: ({"rows": rows, "classes": columns}, {}),
    "cross_entropy_backward": lambda rows, columns: ({"rows": rows, "classes": columns}, {}),
    "cumsum": _of("x", dim=-1, reverse=False),
    "decode_attention": _decode,
    "decode_attention_int8": _decode,
    "dequant_gemm": _dequant,
    "embedding": lambda rows, columns: ({"rows": rows, "columns": columns, "index": [rows]}, {}),
    "floor_divide": _of("x", "y"),
    "fp8_gemm": _product(),
    "gelu": _of("x", approximate="none"),
    "gelu_backward": _of("grad", approximate="none"),
    "gemm": _product(),
    "gemm_bias": _product(),
    "grouped_gemm": _grouped,
    "histogram": lambda rows, columns: ({"index": [rows * columns]}, {"bins": 64}),
    "index_copy": _moved,
    "linear_scan": _of("a"),
    "masked_fill": _of("x", "mask", value=-1),
    "paged_attention": _paged,
    "paged_attention_int8": _paged,
    "quantize_fp8": _of("x", format="e4m3"),
    "remainder": _of("x", "y"),
    "rope": lambda rows, columns: ({"b": 1, "h": 2, "s": rows, "d": 64, "r": 64}, {}),
    "scatter_add": _moved,
    "shift_right": _of("x", "y"),
    "silu_backward": _of("grad"),
    "softcap": _of("x", cap=50.0),
    "sort": _of("x", dim=-1, descending=False),
    "swiglu": _of("gate"),
    "swiglu_backward": _of("grad"),
    "topk": lambda rows, columns: ({"x": [rows, columns]}, {"k": min(columns, 5)}),
    "unpack_int4": _of("packed"),
    "varlen_attention": _varlen,
    **dict.fromkeys(
        ("argmax", "argmin", "log_softmax", "log_softmax_backward", "max", "softmax", "softmax_backward", "sum"),
        _of("x", dim=-1),
    ),
    "var_mean": _of("x", dim=-1),
    **dict.fromkeys(("layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward"), _of("x", eps=1e-5)),
    **dict.fromkeys(("exp", "quantize_int8", "relu", "round", "silu", "tanh", "transpose"), _of("x")),
}
"""How each operation is asked for, by its name: the parameters are those that models use."""
