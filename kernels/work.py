"""How much there is to do in a case, whoever does it: bytes that must be moved, and operations of a product.

Both are the least that a kernel can do with: each input read once, each output written once, and nothing computed
twice. So the time that a device needs for them, at its best rates, is a floor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from golden.case import Case
from golden.dtypes import dtype_of
from kernels.operation import Operation


@dataclass(frozen=True)
class Work:
    """``moved`` bytes, and ``operations`` of products: a multiplication and an addition are two."""

    moved: int
    operations: int


def work(operation: Operation, case: Case) -> Work:
    """Return how much there is to do in ``case``; no operations where there is no matrix product in it."""
    forms = [*operation.forms(case).values(), *operation.results(case).values()]
    moved = sum(form.size * dtype_of(form.dtype).itemsize for form in forms)
    count = _PRODUCTS.get(operation.name, lambda dims, params: 0)
    return Work(moved, count(case.dims, case.params))


Dims = Mapping[str, Any]


def _product(dims: Dims, params: Dims) -> int:
    return 2 * math.prod(dims[name] for name in ("m", "n", "k"))


def _grouped(dims: Dims, params: Dims) -> int:
    return 2 * sum(dims["groups"]) * dims["n"] * dims["k"]


def _conv2d(dims: Dims, params: Dims) -> int:
    stride, padding = params["stride"], params["padding"]
    image = math.prod((dims[one] + 2 * padding - dims[f"taps_{one}"]) // stride + 1 for one in ("h", "w"))
    return 2 * dims["images"] * image * dims["outputs"] * dims["channels"] * dims["taps_h"] * dims["taps_w"]


def _pairs(queries: int, keys: int, causal: bool) -> int:
    """Return how many queries see how many keys, in all."""
    if not causal:
        return queries * keys
    seen = min(queries, keys)
    return seen * (seen + 1) // 2 + (queries - seen) * keys


def _attention(dims: Dims, params: Dims) -> int:
    return 4 * dims["b"] * dims["h"] * dims["d"] * _pairs(dims["sq"], dims["sk"], params["causal"])


def _attention_backward(dims: Dims, params: Dims) -> int:
    # Five products in the place of two: scores once more, and the gradients of P, q, k and v.
    return 5 * _attention(dims, params) // 2


def _varlen(dims: Dims, params: Dims) -> int:
    pairs = sum(_pairs(*one, params["causal"]) for one in zip(dims["sq"], dims["sk"], strict=True))
    return 4 * dims["h"] * dims["d"] * pairs


def _decoding(dims: Dims, params: Dims) -> int:
    return 4 * dims["h"] * dims["d"] * sum(dims["lengths"])


_PRODUCTS: dict[str, Callable[[Dims, Dims], int]] = {
    **dict.fromkeys(("gemm", "gemm_bias", "fp8_gemm", "dequant_gemm"), _product),
    **dict.fromkeys(
        ("decode_attention", "decode_attention_int8", "paged_attention", "paged_attention_int8"), _decoding
    ),
    "grouped_gemm": _grouped,
    "conv2d": _conv2d,
    "attention": _attention,
    "attention_backward": _attention_backward,
    "varlen_attention": _varlen,
}
