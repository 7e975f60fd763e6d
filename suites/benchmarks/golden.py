"""What golden costs: time and memory beside plain NumPy float64, for matrix products and for elementwise operations."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from golden.case import Case
from golden.dtypes import decode
from golden.inputs import make_inputs
from golden.judge import judge
from kernels.registry import load
from suites.goldens import evaluate

SIZES = ((256, 256, 256), (1024, 1024, 1024), (64, 64, 4096))

ELEMENTWISE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "add": ({"x": [512, 1024], "y": [512, 1024]}, {}),
    "relu": ({"x": [512, 1024]}, {}),
    "exp": ({"x": [512, 1024]}, {}),
    "gelu": ({"x": [512, 1024]}, {"approximate": "tanh"}),
    "softmax": ({"x": [512, 1024]}, {"dim": -1}),
    "layer_norm": ({"x": [512, 1024]}, {"eps": 1e-5}),
}
"""Dims and parameters by operation."""


def fastest(*works: Callable[[], object], repeats: int = 5) -> list[float]:
    """Return for each of ``works`` the seconds of processor time of the fastest of ``repeats`` calls, taken in turn.

    That call was disturbed least; what else the machine does takes no time of ours, and slows all of them alike.
    """
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, mine in zip(works, times, strict=True):
            started = time.process_time()
            work()
            mine.append(time.process_time() - started)
    return [min(mine) for mine in times]


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that ``work`` had allocated at once."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def measured(case: Case) -> list[float]:
    """Return milliseconds of the plain formula, and the ratios of golden's time and memory and of judging to its own.

    Memory is counted from the inputs as they are stored, which both decode.
    """
    operation = load().operations[case.operation]
    forms, precision = operation.forms(case), operation.precision(case.dtype)

    stored = make_inputs(case, forms)

    def decoded() -> dict[str, np.ndarray]:
        return {name: decode(x, forms[name].dtype) for name, x in stored.items()}

    def plain(values: dict[str, np.ndarray]) -> object:
        with np.errstate(all="ignore"):
            return operation.call(operation.reference, values, case)

    values, held = decoded(), sum(x.nbytes for x in stored.values())
    (golden,) = evaluate(operation, case, precision, values).values()
    output = drifted(golden.nominal)
    formula, certified, judged = fastest(
        lambda: plain(values), lambda: evaluate(operation, case, precision, values), lambda: judge(golden, output)
    )
    most = held + peak(lambda: evaluate(operation, case, precision, decoded()))
    memory = most / (held + peak(lambda: plain(decoded())))
    return [1e3 * formula, certified / formula, memory, judged / formula]


def drifted(output: np.ndarray) -> np.ndarray:
    """Return a copy of an output whose first element has its last bit flipped: what is exact is judged by its bits."""
    copy = output.copy()
    copy.reshape(-1).view(np.uint8)[0] ^= 1
    return copy


def products() -> Iterator[list[object]]:
    """Yield, for each shape and dtype, what a golden matrix product costs beside one float64 BLAS product."""
    for m, n, k in SIZES:
        for dtype in ("float16", "float32", "float64"):
            yield [f"{m} x {n} x {k}", dtype, *measured(Case("gemm", dtype, {"m": m, "n": n, "k": k}))]


def elementwise() -> Iterator[list[object]]:
    """Yield, for each operation and dtype, what golden costs beside the same formula in NumPy float64."""
    for name, (dims, params) in ELEMENTWISE.items():
        for dtype in ("float16", "float32", "float64"):
            yield [name, dtype, *measured(Case(name, dtype, dims, params))]
