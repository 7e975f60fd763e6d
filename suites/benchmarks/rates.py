"""What kernels reach: every implementation of an operation, in one process, beside PyTorch or the speed of a copy.

``python -m suites.benchmarks.rates gemm softmax --dtype bfloat16 --sizes 4096 8192`` prints TFLOP/s beside PyTorch's
matrix product, or GB/s beside a copy of as much. Nothing is asserted, and nothing verified: the suites do that.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tabulate import tabulate

from kernels.registry import Implementation, load

GROUPS = 16
"""Groups of rows in a grouped product; every fourth of them is empty."""

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


def _rows(*extra: str, written: float = 1.0, **params: Any) -> Callable[[int, torch.dtype, str], Workload]:
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


def _copy(size: int, dtype: torch.dtype, device: str) -> Workload:
    x = _uniform(ELEMENTS // size, size, dtype=dtype, device=device)
    return Workload((x,), {}, 2.0 * x.nbytes, "GB/s")


def _dequant_gemm(size: int, dtype: torch.dtype, device: str) -> Workload:
    """A batch of 16 rows: what counts is how fast the weights are read."""
    group = 128
    packed = torch.randint(0, 256, (size // 2, size), dtype=torch.uint8, device=device)
    zeros = torch.randint(0, 16, (size // group, size), dtype=torch.uint8, device=device)
    a, scales = (_uniform(*shape, dtype=dtype, device=device) for shape in ((16, size), (size // group, size)))
    return Workload((a, packed, scales, zeros), {"bits": 4, "group_size": group}, float(packed.nbytes), "GB/s")


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

WORKLOADS: dict[str, Callable[[int, torch.dtype, str], Workload]] = {
    "gemm": _gemm,
    "gemm_bias": _gemm_bias,
    "grouped_gemm": _grouped_gemm,
    "conv2d": _conv2d,
    "dequant_gemm": _dequant_gemm,
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

_SCALES = {"TFLOP/s": 1e12, "GB/s": 1e9}


def seconds(call: Callable[[], object], repeats: int = 20) -> float:
    """Return the median seconds of a call on the device that is current, its caches cold."""
    from triton.testing import do_bench

    return 1e-3 * do_bench(call, warmup=50, rep=10 * repeats, return_mode="median")


def rates(operation: str, size: int, dtype: str, *, pattern: str = "*", device: str = "cuda") -> Iterator[list[object]]:
    """Yield for each implementation of ``operation`` its rate and the ratio to what it is measured by.

    That is PyTorch's own, the first one, of a product; where memory decides, a copy. An implementation that raises is
    listed with what it raised.
    """
    workload = WORKLOADS[operation](size, getattr(torch, dtype), device)
    measure = 0.0
    if workload.unit == "GB/s":
        plain = _copy(size, getattr(torch, dtype), device)
        target = torch.empty_like(plain.tensors[0])
        took = seconds(lambda: target.copy_(plain.tensors[0]))
        measure = plain.work / took / _SCALES[plain.unit]
        yield ["copy", size, dtype, f"{measure:.0f} GB/s", "1.00", f"{1e6 * took:.0f} us"]
        del plain, target
    for one in _chosen(operation, dtype, pattern):
        try:
            took = seconds(lambda one=one: one.function(*workload.tensors, **workload.params))  # type: ignore[misc]
        except Exception as error:  # a table of what works is worth more than none
            yield [one.id, size, dtype, f"{type(error).__name__}: {error}"[:60], "", ""]
            continue
        rate = workload.work / took / _SCALES[workload.unit]
        measure = measure or rate
        yield [one.id, size, dtype, f"{rate:.0f} {workload.unit}", f"{rate / measure:.2f}", f"{1e6 * took:.0f} us"]


def _chosen(operation: str, dtype: str, pattern: str) -> list[Implementation]:
    every = [one for one in load().implementations.values() if one.operation == operation]
    able = [one for one in every if dtype in (one.dtypes or (dtype,)) and one.numerics == "ieee"]
    first = [one for one in able if one.paradigm == "torch"]
    return first + [one for one in able if one not in first and fnmatch.fnmatch(one.id, pattern)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operations", nargs="+", choices=sorted(WORKLOADS))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--sizes", nargs="+", type=int, default=[4096, 8192])
    parser.add_argument("--implementation", default="*", help="only these, a pattern; PyTorch's are always there")
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args(arguments)
    headers = ["implementation", "size", "dtype", "rate", "ratio", "median"]
    for operation in asked.operations:
        table: list[list[object]] = []
        for size in asked.sizes:
            table += rates(operation, size, asked.dtype, pattern=asked.implementation, device=asked.device)
        print(tabulate(table, headers), flush=True)


if __name__ == "__main__":
    main()
