"""A TileLang program lowered to CUDA or HIP for an architecture, and its source read, by way of nvcc where that is."""

from __future__ import annotations

import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import tilelang
from tilelang import tvm

from kernels.toolchains.cuda import device_compiler
from kernels.toolchains.cxx.build import BuildError
from platforms.targets import cuda_reading
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading, refused

_SPECIAL = ("sm_90", "sm_100", "sm_120")
"""Architectures of which TileLang uses what only their own variant has."""

_SHARED = "dyn_shared_memory_buf"
_MATRIX = {
    "mma": r"\bmma_sync",
    "wgmma": r"\bwgmma",
    "tcgen05": r"\btcgen05",
    "mfma": r"_mfma_\w+",
    "wmma": r"_wmma_\w+",
}


def read(function: Any, one: Architecture) -> Reading:
    """Return what becomes of a ``T.prim_func`` for an architecture; what is refused is a reading too."""
    started = time.perf_counter()
    option = "arch" if one.backend == "cuda" else "mcpu"
    try:
        with tvm.target.Target({"kind": one.backend, option: one.name}) as target:
            lowered = tilelang.lower(function, target=target)
    except Exception as error:  # whatever it is, it is what there is to know
        return refused(one, error, seconds=time.perf_counter() - started)
    script = function.script()
    dots = "T.gemm" in script or "tileop.gemm" in script
    found = replace(
        _code(lowered.kernel_source, one),
        dots=dots,
        narrow=dots and "float8" in script,
        seconds=time.perf_counter() - started,
    )
    amounts = [int(kernel.attrs.get(_SHARED, 0)) for kernel in lowered.device_mod.functions.values()]
    threads = [int(number) for number in re.findall(r"__launch_bounds__\((\d+)", lowered.kernel_source)]
    found = replace(
        found, shared=(found.shared or 0) + max(amounts), threads=max(threads, default=None), lanes=one.lanes
    )
    return _runnable(found, one)


def _code(source: str, one: Architecture) -> Reading:
    """Return what the source tells, and what nvcc makes of it where it is CUDA C++ and nvcc is there."""
    matrix = {name: re.findall(pattern, source) for name, pattern in _MATRIX.items()}
    told = Reading(
        target=one.name,
        matrix=tuple(name for name, found in matrix.items() if found),
        kinds=tuple(sorted({kind for found in matrix.values() for kind in found})[:3]),
    )
    if one.backend != "cuda":
        return told
    here = Path(tilelang.__file__).parent
    includes = [f"-I{here / folder}" for folder in ("src", "3rdparty/cutlass/include")]
    try:
        command = device_compiler(one.name + "a" * (one.name in _SPECIAL))
    except BuildError:
        return told
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(source)
        file.flush()
        return next(iter(cuda_reading.compiled([*command, *includes], Path(file.name), one).values()))


def _runnable(found: Reading, one: Architecture) -> Reading:
    """Return ``found``, or an error where it has no code for its products, or such as the architecture cannot run."""
    if found.error or found.unfinished or not found.dots:
        return found
    eight = any(word in kind for kind in found.kinds for word in ("fp8", "bf8", "e4m3", "e5m2"))
    if eight and not one.float8:
        return replace(found, error=f"it multiplies by {found.kinds[0]}, which {one.name} does not have")
    if not found.matrix and found.registers:
        return replace(found, error=f"it calls for products that its library does not have for {one.name}")
    return found
