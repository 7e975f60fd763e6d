"""Typical cases of an operation at a size: what is timed, and what kernels are compiled for where there is no device.

Drawn cases aim at where faults live; these look like what programs do, with even dims and contiguous tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from golden.case import Case
from kernels.operation import Operation

HEAD = 128
"""Elements of an attention head."""

HEADS = 16
"""Heads of a token."""

LONGEST = 4096
"""Elements of the longest row, and tokens of the longest sequence."""

Dims = Callable[[int], tuple[dict[str, Any], dict[str, Any]]]
"""Returns the dims and parameters of a case whose largest tensor has about so many elements."""


def typical(operation: Operation, dtype: str, elements: int) -> Case | None:
    """Return the case of ``operation`` with about ``elements`` in its largest tensor; None where none is known."""
    make = _TYPICAL.get(operation.name)
    if make is None:
        return None
    dims, params = make(elements)
    return Case(operation.name, dtype, dims, params)


def _side(elements: int) -> int:
    """Return the power of two whose square has at most ``elements``."""
    return 1 << (elements.bit_length() - 1) // 2


def _rows(*names: str, **params: Any) -> Dims:
    """Return the dims of tensors of equal shape: rows of as many elements as there are rows, or fewer."""

    def dims(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
        row = min(_side(elements), LONGEST)
        return {name: [elements // row, row] for name in names}, params

    return dims


def _square(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    side = min(_side(elements), LONGEST)
    return {"x": [elements // side**2, side, side]}, {}


def _product(*names: str, **params: Any) -> Dims:
    return lambda elements: (dict.fromkeys(names, _side(elements)), params)


def _sequences(elements: int) -> tuple[int, int]:
    """Return how many sequences there are of how many tokens each."""
    tokens = max(1, elements // (HEADS * HEAD))
    length = min(tokens, LONGEST)
    return tokens // length, length


def _attention(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    count, length = _sequences(elements)
    dims = {"b": count, "h": HEADS, "hk": HEADS, "sq": length, "sk": length, "d": HEAD}
    return dims, {"causal": True, "scale": None, "softcap": None, "window": None}


def _decoding(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    count, length = _sequences(elements)
    return {"h": HEADS, "hk": HEADS, "s": length, "d": HEAD, "lengths": [length] * count}, {"scale": None}


def _paged(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    page = 16
    count, length = _sequences(elements)
    slots = max(1, length // page)
    dims = {"h": HEADS, "hk": HEADS, "d": HEAD, "pages": count * slots, "page": page, "slots": slots}
    return {**dims, "lengths": [length] * count}, {"scale": None}


def _varlen(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    count, length = _sequences(elements)
    dims = {"h": HEADS, "hk": HEADS, "d": HEAD, "sq": [length] * count, "sk": [length] * count}
    return dims, {"causal": True, "scale": None}


def _rope(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    count, length = _sequences(elements)
    return {"b": count, "h": HEADS, "s": length, "d": HEAD, "r": HEAD}, {}


def _conv2d(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    channels = 64
    image = max(4, math.isqrt(elements // (16 * channels)))
    dims = {"images": 16, "channels": channels, "h": image, "w": image, "outputs": channels}
    return {**dims, "taps_h": 3, "taps_w": 3}, {"stride": 1, "padding": 1}


def _grouped(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    side = _side(elements)
    return {"groups": [side // 8] * 8, "n": side, "k": side}, {}


def _dequant(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    side = max(_side(elements), 128)
    return {"m": 16, "n": side, "k": side}, {"bits": 4, "group_size": 128}


def _classes(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
    row = min(_side(elements), LONGEST)
    return {"rows": elements // row, "classes": row}, {}


def _indexed(name: str) -> Dims:
    def dims(elements: int) -> tuple[dict[str, Any], dict[str, Any]]:
        side = _side(elements)
        chosen = [side // 2] if name == "index" else side // 2
        return {"rows": side, "columns": side, name: chosen}, {}

    return dims


_TYPICAL: dict[str, Dims] = {
    **dict.fromkeys(("add", "floor_divide", "remainder", "shift_right"), _rows("x", "y")),
    **dict.fromkeys(("exp", "tanh", "relu", "silu", "round", "transpose"), _rows("x")),
    **dict.fromkeys(("softmax", "log_softmax", "sum", "max", "argmax", "argmin", "var_mean"), _rows("x", dim=-1)),
    **dict.fromkeys(("softmax_backward", "log_softmax_backward"), _rows("x", dim=-1)),
    **dict.fromkeys(("rms_norm", "layer_norm", "rms_norm_backward", "layer_norm_backward"), _rows("x", eps=1e-5)),
    "causal_softmax": _square,
    "cumsum": _rows("x", dim=-1, reverse=False),
    "sort": _rows("x", dim=-1, descending=False),
    "topk": _rows("x", k=8),
    "cast": _rows("x", dtype="float32"),
    "clamp": _rows("x", min=-1, max=1),
    "softcap": _rows("x", cap=30.0),
    "gelu": _rows("x", approximate="tanh"),
    "gelu_backward": _rows("grad", approximate="tanh"),
    "silu_backward": _rows("grad"),
    "swiglu": _rows("gate"),
    "swiglu_backward": _rows("grad"),
    "masked_fill": _rows("x", "mask", value=0),
    "linear_scan": _rows("a"),
    "quantize_int8": _rows("x"),
    "quantize_fp8": _rows("x", format="e4m3"),
    "unpack_int4": _rows("packed"),
    "histogram": _rows("index", bins=256),
    "gemm": _product("m", "n", "k"),
    "gemm_bias": _product("m", "n", "k"),
    "fp8_gemm": _product("m", "n", "k"),
    "grouped_gemm": _grouped,
    "dequant_gemm": _dequant,
    "conv2d": _conv2d,
    "attention": _attention,
    "attention_backward": _attention,
    "decode_attention": _decoding,
    "decode_attention_int8": _decoding,
    "paged_attention": _paged,
    "paged_attention_int8": _paged,
    "varlen_attention": _varlen,
    "rope": _rope,
    "cross_entropy": _classes,
    "cross_entropy_backward": _classes,
    "embedding": _indexed("index"),
    "scatter_add": _indexed("count"),
    "index_copy": _indexed("count"),
}
