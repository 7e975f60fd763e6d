"""What matrix products and movements reach: every implementation of an operation beside PyTorch, in one process.

``python -m suites.benchmarks.matrices gemm --dtype bfloat16 --sizes 4096 8192`` prints TFLOP/s or GB/s.
Nothing is asserted, and nothing verified: the suites do that.
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
}
"""What is measured of each operation, by its name."""

_SCALES = {"TFLOP/s": 1e12, "GB/s": 1e9}


def seconds(call: Callable[[], object], repeats: int = 20) -> float:
    """Return the median seconds of a call on the device that is current, its caches cold."""
    from triton.testing import do_bench

    return 1e-3 * do_bench(call, warmup=50, rep=10 * repeats, return_mode="median")


def rates(operation: str, size: int, dtype: str, *, pattern: str = "*", device: str = "cuda") -> Iterator[list[object]]:
    """Yield for each implementation of ``operation``, PyTorch's first, its rate and the ratio to the first.

    An implementation that raises is listed with what it raised.
    """
    workload = WORKLOADS[operation](size, getattr(torch, dtype), device)
    first = 0.0
    for one in _chosen(operation, dtype, pattern):
        try:
            took = seconds(lambda one=one: one.function(*workload.tensors, **workload.params))  # type: ignore[misc]
        except Exception as error:  # a table of what works is worth more than none
            yield [one.id, size, dtype, f"{type(error).__name__}: {error}"[:60], "", ""]
            continue
        rate = workload.work / took / _SCALES[workload.unit]
        first = first or rate
        yield [one.id, size, dtype, f"{rate:.0f} {workload.unit}", f"{rate / first:.2f}", f"{1e6 * took:.0f} us"]


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
    headers = ["implementation", "size", "dtype", "rate", "over the first", "median"]
    for operation in asked.operations:
        table: list[list[object]] = []
        for size in asked.sizes:
            table += rates(operation, size, asked.dtype, pattern=asked.implementation, device=asked.device)
        print(tabulate(table, headers), flush=True)


if __name__ == "__main__":
    main()
