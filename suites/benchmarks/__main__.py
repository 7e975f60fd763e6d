"""Print what the harness costs on this machine: ``python -m suites.benchmarks``."""

from __future__ import annotations

from tabulate import tabulate

from platforms.detect import detect
from platforms.gather import probe
from suites.benchmarks import golden, harness


def main() -> None:
    """Measure and print; nothing is asserted, since a time says as much of the machine as of the program."""
    print("Golden matrix product over one float64 BLAS product of the same size")
    headers = ["m x n x k", "dtype", "BLAS ms", "golden / BLAS", "judge / BLAS"]
    print(tabulate(list(golden.rows()), headers, floatfmt=("", "", ".2f", ".1f", ".2f")))
    print("\nWhole cases (draw apart: inputs, worker, guarded memory, golden, teeth, judge, record) on one core")
    headers = ["operation", "platform", "cases/s", "case ms (median)", "bare kernel us", "case / kernel"]
    rows = list(harness.rows(detect(probe()).found))
    print(tabulate(rows, headers, floatfmt=("", "", ".0f", ".2f", ".1f", ".0f")))


if __name__ == "__main__":
    main()
