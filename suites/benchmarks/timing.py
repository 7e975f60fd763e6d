"""How fast a function does the work of a benchmark: in a row, alone, or out of a graph.

Each is true of some use, and they differ where a call is short.
"""

from __future__ import annotations

import functools
import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from suites.benchmarks.workloads import Tensors, Workload, copy

COLD = 2**30
"""Bytes that other calls take before one gets tensors again that an earlier one had: more than caches hold."""

_LEAST, _REPEATS, _ENOUGH = 3, 20, 0.5
"""How often calls are repeated: at least, at most, and for how many seconds between these."""

_SCALES = {"TFLOP/s": 1e12, "GB/s": 1e9}

Function = Callable[..., object]


def rate(workload: Workload, function: Function) -> float:
    """Return what ``function`` does of the work in a second, in the workload's unit.

    A product is called alone; where memory decides, calls are made in a row.
    """
    return in_a_row(workload, function) if workload.unit == "GB/s" else alone(workload, function)


def alone(workload: Workload, function: Function) -> float:
    """Return the rate of a call for itself, just after the device has filled its caches with zeros.

    The start of a kernel is part of it, and so is the time in which the zeros are written to memory.
    """
    from triton.testing import do_bench

    def call() -> object:
        return function(*workload.tensors, **workload.params)

    return _rate(workload, 1e-3 * do_bench(call, warmup=50, rep=10 * _REPEATS, return_mode="median"))


def in_a_row(workload: Workload, function: Function) -> float:
    """Return the rate of calls from Python one after another, each on tensors that no cache holds, as layers have them.

    Where Python is slower than the device, this is how fast Python is.
    """
    calls = _Calls(workload, function)
    return _rate(workload, _seconds(calls) / len(calls.sets))


def replayed(workload: Workload, function: Function) -> float:
    """Return the rate of the same calls out of a graph that was captured: that of the device, whatever Python costs."""
    calls = _Calls(workload, function)
    calls()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        calls()
    return _rate(workload, _seconds(graph.replay) / len(calls.sets))


def copied(dtype: torch.dtype, device: str) -> float:
    """Return the GB/s, read and written, of copies in a row."""
    return in_a_row(copy(dtype, device), lambda source, target: target.copy_(source))


@dataclass(frozen=True)
class _Calls:
    """Calls of a function on a workload's tensors and on copies of them."""

    workload: Workload
    function: Function

    @functools.cached_property
    def sets(self) -> list[Tensors]:
        """As many as go through :data:`COLD` bytes, and one more."""
        tensors = self.workload.tensors
        more = COLD // sum(tensor.nbytes for tensor in tensors)
        return [tensors, *(tuple(tensor.clone() for tensor in tensors) for _ in range(more))]

    def __call__(self) -> None:
        for tensors in self.sets:
            self.function(*tensors, **self.workload.params)


def _seconds(call: Callable[[], None]) -> float:
    """Return the median seconds from the end of one call to that of the next on the device that is current."""
    call()
    torch.cuda.synchronize()
    started = time.perf_counter()
    call()
    torch.cuda.synchronize()
    repeats = min(_REPEATS, max(_LEAST, int(_ENOUGH / (time.perf_counter() - started))))
    ends = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    for end in ends:
        call()
        end.record()
    torch.cuda.synchronize()
    return 1e-3 * statistics.median(one.elapsed_time(other) for one, other in itertools.pairwise(ends))


def _rate(workload: Workload, seconds: float) -> float:
    return workload.work / seconds / _SCALES[workload.unit]
