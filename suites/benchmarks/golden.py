"""What golden costs: the certified matrix product over one float64 product, by shape and dtype."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from golden.case import Case
from golden.dtypes import decode
from golden.enclosure import Enclosure
from golden.inputs import make_inputs
from golden.judge import judge, seal
from kernels.registry import load

SIZES = ((256, 256, 256), (1024, 1024, 1024), (64, 64, 4096))


def fastest(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the seconds of the fastest of ``repeats`` calls: the one that was disturbed least."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def rows() -> Iterator[list[object]]:
    """Yield, for each shape and dtype, the ratios of golden and of judging to one float64 BLAS product."""
    gemm = load().operations["gemm"]
    for m, n, k in SIZES:
        for dtype in ("float16", "float32", "float64"):
            case = Case("gemm", dtype, {"m": m, "n": n, "k": k})
            inputs = make_inputs(case, gemm.shapes(case))
            a, b = (decode(inputs[name], dtype) for name in "ab")
            precision = gemm.precision(dtype)
            plain = fastest(lambda a=a, b=b: np.matmul(a, b))  # type: ignore[misc]
            golden = seal(gemm.reference(Enclosure(a, precision), Enclosure(b, precision)), dtype)
            certified = fastest(
                lambda a=a, b=b, p=precision: gemm.reference(Enclosure(a, p), Enclosure(b, p)),  # type: ignore[misc]
                repeats=3,
            )
            judged = fastest(lambda golden=golden: judge(golden, golden.nominal))  # type: ignore[misc]
            yield [f"{m} x {n} x {k}", dtype, 1e3 * plain, certified / plain, judged / plain]
