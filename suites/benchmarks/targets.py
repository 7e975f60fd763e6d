"""What the best kernels are to reach on a large GPU, and what they reach: ``python -m suites.benchmarks.rates``.

A product is measured by PyTorch's own (cuBLAS, the best backend of its attention), what memory decides by the speed of
a copy, all in one run. A kernel is judged on a small case of the same kind before it is timed. What memory decides is
timed in a row, as :mod:`suites.benchmarks.timing` says, and the best kernel in the other ways too.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from tabulate import tabulate

from golden.case import Case
from kernels.registry import Implementation, load
from suites.benchmarks.attention import backends, case_of
from suites.benchmarks.timing import alone, copied, rate, replayed
from suites.benchmarks.verified import verdict
from suites.benchmarks.workloads import WORKLOADS, Maker, Workload, attention, dequant_gemm

PARADIGMS = ("triton", "tilelang", "ninetoothed", "cuda")
"""Those that run on a GPU and say themselves how."""

MATCHING = PARADIGMS[:2]
"""Those whose products are to come near a library's; where memory decides, any of them may be the best."""


OTHERWISE = (alone, replayed)
"""How what memory decides is timed besides."""


@dataclass(frozen=True)
class Target:
    """The ``share`` of what it is measured by that the best kernel of an operation is to reach at a size.

    ``dims`` are those of the small case that kernels are judged on.
    """

    label: str
    operation: str
    make: Maker
    size: int
    share: float
    dims: Mapping[str, Any]


@dataclass
class Reached:
    """What was reached at one size: by the library or a copy, and by the best of each paradigm, with its name.

    ``otherwise`` is what the best of all reached in the other ways of timing, where memory decides.
    """

    measure: float
    unit: str
    best: dict[str, tuple[float, str]] = field(default_factory=dict)
    otherwise: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def _rows(operation: str, *, inputs: Sequence[str] = ("x",)) -> Target:
    dims = {name: [48, 8192] for name in inputs}
    return Target(operation, operation, WORKLOADS[operation], 8192, 0.9, dims)


def _attention(size: int) -> Target:
    dims = case_of("bfloat16", size).dims
    return Target(f"attention, causal, D {size}", "attention", attention(size), 16384, 0.8, dims)


def _dequant_gemm(batch: int, bits: int) -> Target:
    dims = {"m": batch, "n": 1024, "k": 1024}
    return Target(
        f"dequant_gemm, int{bits}, batch {batch}", "dequant_gemm", dequant_gemm(batch, bits), 16384, 0.7, dims
    )


TARGETS = (
    *(Target("gemm", "gemm", WORKLOADS["gemm"], size, 0.9, {"m": 272, "n": 400, "k": 256}) for size in (4096, 8192)),
    _attention(64),
    _attention(128),
    _rows("add", inputs=("x", "y")),
    _rows("relu"),
    _rows("softmax"),
    *(_rows(name) for name in ("rms_norm", "layer_norm", "sum")),
    Target("transpose", "transpose", WORKLOADS["transpose"], 16384, 0.9, {"x": [400, 272]}),
    _rows("quantize_int8"),
    *(_dequant_gemm(batch, bits) for bits in (4, 8) for batch in (1, 4, 16)),
)


_LINE = "{:<26} {:>6} {:>16} {:>16}  {:<22} {:>6} {:>6}  {}"


def report(dtype: str, device: str, labels: Sequence[str] = ("*",)) -> None:
    """Measure the targets whose labels match; print each as it is reached, and last what each paradigm reaches.

    Raises ValueError, which lists the labels, where none matches.
    """
    chosen = [target for target in TARGETS if any(fnmatch.fnmatch(target.label, label) for label in labels)]
    if not chosen:
        known = dict.fromkeys(target.label for target in TARGETS)
        raise ValueError(f"no target {', '.join(labels)}; there are {'; '.join(known)}")
    copy = copied(getattr(torch, dtype), device)
    print(f"{dtype} on {torch.cuda.get_device_name()}: the best, beside a library or a copy")
    print(_LINE.format("operation", "size", "measured by", "best", "", "share", "target", ""), flush=True)
    reached = []
    for target in chosen:
        reached.append(_reached(target, dtype, device, copy))
        print(_LINE.format(*_row(target, reached[-1])), flush=True)
    print("\nThe best of each paradigm, as a share of the same, and the best of all timed otherwise")
    shares = [[target.label, target.size, *_shares(one)] for target, one in zip(chosen, reached, strict=True)]
    print(
        tabulate(shares, ["operation", "size", *PARADIGMS, *(way.__name__ for way in OTHERWISE)], disable_numparse=True)
    )
    for name, why in sorted(_missing(reached).items()):
        print(f"not timed: {name}: {why}")


def _reached(target: Target, dtype: str, device: str, copy: float) -> Reached:
    workload = target.make(target.size, getattr(torch, dtype), device)
    figures = Reached(copy if workload.unit == "GB/s" else _library(target.operation, workload), workload.unit)
    case = Case(target.operation, dtype, target.dims, workload.params)
    for one in _candidates(target.operation, dtype):
        try:
            if (word := verdict(one, case, device)) in ("wrong", "drift"):
                figures.failed[one.id] = f"{word} on {case.line}"
                continue
            figure = rate(workload, one.function)
        except Exception as error:  # a table of what works is worth more than none
            figures.failed[one.id] = f"{type(error).__name__}: {error}".split("\n")[0][:80]
            continue
        figures.best[one.paradigm] = max(figures.best.get(one.paradigm, (0.0, "")), (figure, one.name))
    if figures.best and workload.unit == "GB/s":
        _, name, paradigm = _best(figures)
        function = load().implementations[f"{target.operation}/{paradigm}/{name}"].function
        figures.otherwise = {way.__name__: way(workload, function) for way in OTHERWISE}
    return figures


def _best(figures: Reached) -> tuple[float, str, str]:
    """Return the best figure, and the name and paradigm of what reached it."""
    able = PARADIGMS if figures.unit == "GB/s" else MATCHING
    return max((*figures.best.get(paradigm, (0.0, "none")), paradigm) for paradigm in able)


def _candidates(operation: str, dtype: str) -> Iterator[Implementation]:
    for one in load().implementations.values():
        able = dtype in (one.dtypes or (dtype,)) and one.numerics == "ieee"
        if one.operation == operation and one.paradigm in PARADIGMS and able:
            yield one


def _library(operation: str, workload: Workload) -> float:
    """Return the rate of PyTorch's own: of its backends for attention that can, the best."""
    if operation != "attention":
        eager = next(one for one in load().implementations.values() if one.id.startswith(f"{operation}/torch/"))
        return rate(workload, eager.function)
    figures = []
    for _, attend in backends():
        try:
            figures.append(rate(workload, attend))
        except RuntimeError:  # a backend that this machine does not have
            continue
    return max(figures)


def _row(target: Target, figures: Reached) -> Iterator[object]:
    best, name, paradigm = _best(figures)
    share = best / figures.measure
    yield from (target.label, target.size, f"{figures.measure:.0f} {figures.unit}", f"{best:.0f} {figures.unit}")
    yield f"{paradigm}/{name}"
    yield from (f"{share:.2f}", f"{target.share:.2f}", "met" if share >= target.share else "NOT MET")


def _shares(figures: Reached) -> Iterator[str]:
    for paradigm in PARADIGMS:
        best, name = figures.best.get(paradigm, (0.0, ""))
        yield f"{best / figures.measure:.2f} {name}" if name else "-"
    for way in OTHERWISE:
        yield f"{figures.otherwise[way.__name__] / figures.measure:.2f}" if figures.otherwise else "-"


def _missing(reached: Sequence[Reached]) -> dict[str, str]:
    """Return what could not be timed and why: implementations that failed, and paradigms that are not installed."""
    failed = {name: why for figures in reached for name, why in figures.failed.items()}
    operations = {target.operation for target in TARGETS}
    absent = {
        paradigm: why
        for name, why in load().absent.items()
        for operation, _, paradigm in [name.partition("/")]
        if operation in operations and paradigm in PARADIGMS
    }
    return {**absent, **failed}
