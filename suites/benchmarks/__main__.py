"""Print what the harness costs on this machine: ``python -m suites.benchmarks``."""

from __future__ import annotations

from tabulate import tabulate

from platforms.detect import detect
from platforms.gather import probe
from suites.benchmarks import calls, golden, harness


def main() -> None:
    """Measure and print; nothing is asserted, since a time says as much of the machine as of the program."""
    figures = ["NumPy ms", "golden / NumPy", "memory / NumPy", "judge / NumPy"]
    formats = ("", "", ".2f", ".1f", ".1f", ".2f")
    print("Golden matrix product over one float64 BLAS product of the same size")
    print(tabulate(list(golden.products()), ["m x n x k", "dtype", *figures], floatfmt=formats))
    print("\nGolden of 512 x 1024 elements over the same formula in NumPy float64")
    print(tabulate(list(golden.elementwise()), ["operation", "dtype", *figures], floatfmt=formats))
    print("\nA call of relu on four numbers, most of which is the way to the kernel")
    print(tabulate(list(calls.rows()), ["implementation", "us", "ratio"], floatfmt=("", ".1f", ".1f")))
    print("\nWhole cases (draw apart: inputs, worker, guarded memory, golden, teeth, judge, record) on one core")
    headers = ["operation", "platform", "cases/s", "case ms (median)", "bare kernel us", "case / kernel"]
    rows = list(harness.rows(detect(probe()).found))
    print(tabulate(rows, headers, floatfmt=("", "", ".0f", ".2f", ".1f", ".0f")))


if __name__ == "__main__":
    main()
