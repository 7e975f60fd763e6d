"""What a call of a kernel costs the host before the kernel itself: that of one with next to nothing to do."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator

import torch

from kernels.registry import load

PARADIGMS = ("torch", "cpp")
"""Those that need nothing but this process: PyTorch's own way of a call, and that of C++ and CUDA C++ here."""

_CALLS, _REPEATS = 50, 200


def rows(operation: str = "relu") -> Iterator[list[object]]:
    """Yield each implementation, the microseconds of a call on four numbers, and their ratio to PyTorch's."""
    x = torch.arange(4.0)
    every = [one for one in load().implementations.values() if one.operation == operation]
    measure = 0.0
    for one in (one for paradigm in PARADIGMS for one in every if one.paradigm == paradigm):
        took = _seconds(functools.partial(one.function, x))
        measure = measure or took
        yield [one.id, 1e6 * took, took / measure]


def _seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call in the fastest of many short runs, between which other processes have their turn."""
    call()
    return min(_run(call) for _ in range(_REPEATS)) / _CALLS


def _run(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(_CALLS):
        call()
    return time.perf_counter() - started
