"""What benchmarks do: the arguments of an operation at a size that fills a large device, and the work in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

GROUPS = 16
"""Groups of rows in a grouped product; every fourth of them is empty."""

TOKENS, WIDTH = 16384, 2048
"""Tokens in a batch of attention, and elements of a token, which its heads share."""

CAUSAL = {"causal": True, "scale": None, "softcap": None, "window": None}
"""The parameters of attention as language models have it."""

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Workload:
    """What is measured of an operation at one size: its arguments, and the work in them.

    ``work`` counts floating-point operations of a product, or bytes read and written of a movement.
    """

    tensors: Tensors
    params: Mapping[str, Any]
    work: float
    unit: str


Maker = Callable[[int, torch.dtype, str], Workload]
"""Makes the workload of a size, in a dtype, on a device."""


def _uniform(*shape: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    return (torch.rand(shape, device=device) - 0.5).to(dtype)


def _gemm(size: int, dtype: torch.dtype, device: str) -> Workload:
    a, b = (_uniform(size, size, dtype=dtype, device=device) for _ in range(2))
    return Workload((a, b), {}, 2.0 * size**3, "TFLOP/s")


def _gemm_bias(size: int, dtype: torch.dtype, device: str) -> Workload:
    plain = _gemm(size, dtype, device)
    return Workload((*plain.tensors, _uniform(size, dtype=dtype, device=device)), {}, plain.work, plain.unit)


def _grouped_gemm(size: int, dtype: torch.dtype, device: str) -> Workload:
    full = GROUPS - GROUPS // 4
    sizes = [size // full if group % 4 else 0 for group in range(GROUPS)]
    x = _uniform(sum(sizes), size, dtype=dtype, device=device)
    w = _uniform(GROUPS, size, size, dtype=dtype, device=device)
    group_sizes = torch.tensor(sizes, dtype=torch.int32, device=device)
    return Workload((x, w, group_sizes), {}, 2.0 * sum(sizes) * size**2, "TFLOP/s")


def _conv2d(size: int, dtype: torch.dtype, device: str) -> Workload:
    channels, image = 128, max(8, math.isqrt(size))
    x = _uniform(16, channels, image, image, dtype=dtype, device=device)
    weight = _uniform(channels, channels, 3, 3, dtype=dtype, device=device)
    work = 2.0 * 16 * image**2 * channels**2 * 9
    return Workload((x, weight), {"stride": 1, "padding": 1}, work, "TFLOP/s")


def _rows(*extra: str, written: float = 1.0, **params: Any) -> Maker:
    """Return the workload of an operation on many rows of ``size`` elements, which writes ``written`` times as much.

    ``extra`` tensors beside the first are "same", of its shape, or "weight", a row.
    """

    def make(size: int, dtype: torch.dtype, device: str) -> Workload:
        shape = (ELEMENTS // size, size)
        x = _uniform(*shape, dtype=dtype, device=device)
        others = [_uniform(*(shape if kind == "same" else shape[1:]), dtype=dtype, device=device) for kind in extra]
        read = sum(tensor.nbytes for tensor in (x, *others))
        return Workload((x, *others), params, read + written * x.nbytes, "GB/s")

    return make


def _quantize_int8(size: int, dtype: torch.dtype, device: str) -> Workload:
    x = _uniform(ELEMENTS // size, size, dtype=dtype, device=device)
    scale = torch.rand(ELEMENTS // size, device=device) + 1
    return Workload((x, scale), {}, x.nbytes + x.numel(), "GB/s")


def dequant_gemm(batch: int = 16, bits: int = 4) -> Maker:
    """Return the workload of ``batch`` rows times weights of ``bits`` bits: what counts is how fast these are read."""

    def make(size: int, dtype: torch.dtype, device: str) -> Workload:
        group = 128
        packed = torch.randint(0, 256, (size * bits // 8, size), dtype=torch.uint8, device=device)
        zeros = torch.randint(0, 2**bits, (size // group, size), dtype=torch.uint8, device=device)
        a, scales = (_uniform(*shape, dtype=dtype, device=device) for shape in ((batch, size), (size // group, size)))
        read = float(sum(tensor.nbytes for tensor in (a, packed, scales, zeros)))
        return Workload((a, packed, scales, zeros), {"bits": bits, "group_size": group}, read, "GB/s")

    return make


def attention(size: int) -> Maker:
    """Return the workload of causal attention with heads of ``size`` elements, as long as is asked."""

    def make(length: int, dtype: torch.dtype, device: str) -> Workload:
        shape = (max(1, TOKENS // length), WIDTH // size, length, size)
        q, k, v = (torch.randn(shape, dtype=dtype, device=device) for _ in range(3))
        # Two products, of which a causal mask leaves half.
        return Workload((q, k, v), CAUSAL, 2.0 * math.prod(shape) * length, "TFLOP/s")

    return make


def _fp8_gemm(size: int, dtype: torch.dtype, device: str) -> Workload:
    a, b = (_uniform(size, size, dtype=torch.float8_e4m3fn, device=device) for _ in range(2))
    scales = (_uniform(size, dtype=torch.float32, device=device) for _ in range(2))
    return Workload((a, b, *scales), {}, 2.0 * size**3, "TFLOP/s")


def _transpose(size: int, dtype: torch.dtype, device: str) -> Workload:
    x = _uniform(size, size, dtype=dtype, device=device)
    return Workload((x,), {}, 2.0 * x.nbytes, "GB/s")


def _embedding(size: int, dtype: torch.dtype, device: str) -> Workload:
    table = _uniform(2 * size, size, dtype=dtype, device=device)
    index = torch.randint(0, 2 * size, (size,), device=device)
    return Workload((table, index), {}, 2.0 * size * size * table.element_size(), "GB/s")


def _scatter_add(size: int, dtype: torch.dtype, device: str) -> Workload:
    x, src = (_uniform(size, size, dtype=dtype, device=device) for _ in range(2))
    return Workload((x, torch.randint(0, size, (size,), device=device), src), {}, 3.0 * x.nbytes, "GB/s")


def _index_copy(size: int, dtype: torch.dtype, device: str) -> Workload:
    x, src = _uniform(size, size, dtype=dtype, device=device), _uniform(size // 2, size, dtype=dtype, device=device)
    return Workload((x, torch.randperm(size, device=device)[: size // 2], src), {}, 2.0 * x.nbytes, "GB/s")


ELEMENTS = 2**28
"""Elements of a tensor of many rows: more than any cache holds."""

WORKLOADS: dict[str, Maker] = {
    "gemm": _gemm,
    "gemm_bias": _gemm_bias,
    "grouped_gemm": _grouped_gemm,
    "conv2d": _conv2d,
    "attention": attention(128),
    "dequant_gemm": dequant_gemm(),
    "fp8_gemm": _fp8_gemm,
    "transpose": _transpose,
    "embedding": _embedding,
    "scatter_add": _scatter_add,
    "index_copy": _index_copy,
    "add": _rows("same"),
    "relu": _rows(),
    "gelu": _rows(approximate="tanh"),
    "silu": _rows(),
    "swiglu": _rows("same"),
    "softmax": _rows(dim=-1),
    "rms_norm": _rows("weight", eps=1e-5),
    "layer_norm": _rows("weight", "weight", eps=1e-5),
    "sum": _rows(dim=-1, written=0.0),
    "quantize_int8": _quantize_int8,
}
"""What is measured of each operation, by its name."""


def copy(dtype: torch.dtype, device: str) -> Workload:
    """Return the workload of a copy: from its first tensor to its second."""
    source = _uniform(ELEMENTS, dtype=dtype, device=device)
    return Workload((source, torch.empty_like(source)), {}, 2.0 * source.nbytes, "GB/s")
