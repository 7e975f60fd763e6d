"""How often kernels have been compiled in this process, as their toolchains count."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def counter(paradigm: str) -> Callable[[], int] | None:
    """Return what tells how many compilations there have been since now, or None where nobody counts."""
    make = _COUNTERS.get(paradigm)
    return make() if make else None


def _of_triton() -> Callable[[], int] | None:
    import triton

    if triton.knobs.runtime.interpret:
        return None
    compiled: list[Any] = []
    triton.knobs.runtime.jit_post_compile_hook = lambda **told: compiled.append(told)
    return lambda: len(compiled)


def _of_inductor() -> Callable[[], int]:
    import torch._dynamo.utils

    counters = torch._dynamo.utils.counters["stats"]
    before = counters["unique_graphs"]
    return lambda: counters["unique_graphs"] - before


def _of_sources(*names: str) -> Callable[[], int]:
    """Count what the toolchains of C++ sources have looked for in their caches of builds in vain."""
    known = [module for name in names if (module := sys.modules.get(f"kernels.toolchains.{name}"))]
    builds = [one for module in known for one in vars(module).values() if hasattr(one, "cache_info")]
    before = sum(build.cache_info().misses for build in builds)
    return lambda: sum(build.cache_info().misses for build in builds) - before


_COUNTERS: dict[str, Callable[[], Callable[[], int] | None]] = {
    "triton": _of_triton,
    "inductor": _of_inductor,
    "cpp": lambda: _of_sources("cxx.source"),
    "cuda": lambda: _of_sources("cxx.source", "cuda"),
    "opencl": lambda: _of_sources("opencl"),
}
