"""What kernels reach: every implementation of an operation, in one process, beside PyTorch or the speed of a copy.

``python -m suites.benchmarks.rates gemm softmax --dtype bfloat16 --sizes 4096 8192`` prints TFLOP/s beside PyTorch's
matrix product, or GB/s of calls in a row beside such copies. Nothing is asserted, and nothing verified: the suites do.
Without an operation it is :mod:`suites.benchmarks.targets`: what the best are to reach, each verified first, or those
that ``--targets 'dequant_gemm*' sum`` names.
"""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Iterator, Sequence

import torch
from tabulate import tabulate

from kernels.registry import Implementation, load
from suites.benchmarks import targets
from suites.benchmarks.timing import copied, rate
from suites.benchmarks.workloads import WORKLOADS


def rates(operation: str, size: int, dtype: str, *, pattern: str = "*", device: str = "cuda") -> Iterator[list[object]]:
    """Yield for each implementation of ``operation`` its rate and the ratio to what it is measured by.

    That is PyTorch's own, the first one, of a product; where memory decides, a copy. An implementation that raises is
    listed with what it raised.
    """
    workload = WORKLOADS[operation](size, getattr(torch, dtype), device)
    measure = 0.0
    if workload.unit == "GB/s":
        measure = copied(getattr(torch, dtype), device)
        yield ["copy", size, dtype, f"{measure:.0f} GB/s", "1.00"]
    for one in _chosen(operation, dtype, pattern):
        try:
            reached = rate(workload, one.function)
        except Exception as error:  # a table of what works is worth more than none
            yield [one.id, size, dtype, f"{type(error).__name__}: {error}"[:60], ""]
            continue
        measure = measure or reached
        yield [one.id, size, dtype, f"{reached:.0f} {workload.unit}", f"{reached / measure:.2f}"]


def _chosen(operation: str, dtype: str, pattern: str) -> list[Implementation]:
    """Return the implementations of ``operation`` in ``dtype`` whose ids match, PyTorch's before them in any case."""
    every = [one for one in load().implementations.values() if one.operation == operation]
    able = [one for one in every if dtype in (one.dtypes or (dtype,)) and one.numerics == "ieee"]
    first = [one for one in able if one.paradigm == "torch"]
    return first + [one for one in able if one not in first and fnmatch.fnmatch(one.id, pattern)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operations", nargs="*", help="those of which every implementation is measured")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--sizes", nargs="+", type=int, default=[4096, 8192])
    parser.add_argument("--implementation", default="*", help="only these, a pattern; PyTorch's are always there")
    parser.add_argument("--targets", nargs="+", default=["*"], help="without operations: only these, patterns")
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.operations) - set(WORKLOADS)):
        parser.error(f"no workload for {', '.join(unknown)}; there are {', '.join(sorted(WORKLOADS))}")
    if not asked.operations:
        try:
            targets.report(asked.dtype, asked.device, asked.targets)
        except ValueError as error:
            parser.error(str(error))
        return
    headers = ["implementation", "size", "dtype", "rate", "ratio"]
    for operation in asked.operations:
        table: list[list[object]] = []
        for size in asked.sizes:
            table += rates(operation, size, asked.dtype, pattern=asked.implementation, device=asked.device)
        print(tabulate(table, headers), flush=True)


if __name__ == "__main__":
    main()
