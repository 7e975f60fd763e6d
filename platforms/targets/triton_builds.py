"""Which Triton kernels an implementation launches, in which configurations, found out without a device.

The implementation is called on tensors that have no memory, in a process whose driver says that it is the wanted
architecture; every launch is noted instead of made. So a kernel that asks its device what fits is answered as that
device would, and of a tuned one all configurations are seen.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import triton
from triton import knobs
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from kernels.operation import Operation
from kernels.registry import Implementation
from platforms.targets import triton_reading
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading
from platforms.targets.toolchain import Build, Toolchain
from platforms.targets.triton_driver import AbsentDriver
from platforms.targets.typical import called

_OURS = ("debug", "instrumentation_mode")
"""Options that Triton itself adds to those of a launch."""


@dataclass(frozen=True, eq=False)
class Launch:
    """A Triton kernel as it would be launched: what its compilation depends on beside the architecture.

    ``signature`` and ``constants`` are Triton's: the types of the arguments by name, and the values of those that are
    constants; ``attributes`` what it knows of the others (divisible by 16), ``options`` what the launch asked for,
    ``grid`` how many programs there would be along each axis.
    """

    kernel: Any
    signature: Mapping[str, Any]
    constants: Mapping[Any, Any]
    attributes: Mapping[Any, Any]
    options: Mapping[str, Any]
    grid: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        module = self.kernel.fn.__module__.removeprefix("kernels.")
        # What NineToothed writes is in a module that is called as its file is, which lies elsewhere on each machine.
        return f"{'generated' if os.sep in module else module}.{self.kernel.fn.__name__.lstrip('_')}"

    @property
    def configuration(self) -> str:
        """The constants that it was written with and its options, such as ``"M=128 N=256 num_warps=8"``."""
        names = list(self.signature)
        asked = {one.name for one in self.kernel.params if one.is_constexpr}
        constants = {names[path[0]]: value for path, value in self.constants.items() if len(path) == 1}
        shown = {name: value for name, value in constants.items() if name in asked} | dict(self.options)
        return " ".join(f"{name}={value}" for name, value in shown.items() if isinstance(value, (int, str)))

    @property
    def key(self) -> str:
        """A digest of what was asked for, the sources of the kernel and of what it calls included.

        What Triton knows of the arguments beside is left out: it differs by backend, and is the same question.
        """
        asked = (self.signature, self.constants, self.options)
        return _digest(self.kernel.cache_key, *(sorted((str(k), _named(v)) for k, v in one.items()) for one in asked))

    @property
    def digest(self) -> str:
        """A digest of all that the compilation depends on beside the architecture."""
        return _digest(self.key, sorted((str(k), str(v)) for k, v in self.attributes.items()))

    def read(self, one: Architecture) -> Reading:
        """Return what the compiler makes of it for an architecture; what it refuses is a reading too."""
        return triton_reading.read(self, one)


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def _named(value: Any) -> str:
    return value.cache_key if isinstance(value, JITFunction) else str(value)


def toolchain() -> Toolchain:
    """Return Triton's compilers for devices; raises RuntimeError in a process in which Triton interprets."""
    if knobs.runtime.interpret:
        raise RuntimeError("TRITON_INTERPRET is set, and what is interpreted is not compiled: unset it")
    return Toolchain("triton", f"Triton {triton.__version__}", ("cuda", "hip"), _launches)


def _launches(operation: Operation, implementation: Implementation, dtype: str, one: Architecture) -> list[Build]:
    found: list[Build] = []
    with _noted(found, one):
        called(operation, implementation, dtype, again=found.clear)
    return list({launch.key: launch for launch in found}.values())


@contextmanager
def _noted(found: list[Build], one: Architecture) -> Iterator[None]:
    """Let every launch be added to ``found``, as on a device of architecture ``one``, and not be made."""
    run = JITFunction.run
    given: dict[str, Any] = {}
    grid: tuple[int, ...] = ()

    def noting(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal grid
        grid = _grid(kernel, args, kwargs)
        given.clear()
        named = {parameter.name for parameter in kernel.params} | {"grid", "warmup"}
        given.update((name, value) for name, value in kwargs.items() if name not in named and name not in _OURS)
        return run(kernel, *args, **kwargs)

    def note(*, fn: Any, compile: dict[str, Any], **_: Any) -> bool:
        asked = compile["signature"], compile["constants"], compile["configs"][0]
        found.append(Launch(fn.jit_function, *asked, dict(given), grid))
        return True

    driver.set_active(AbsentDriver(one))
    JITFunction.run = noting
    knobs.runtime.jit_cache_hook = note
    try:
        yield
    finally:
        JITFunction.run = run
        knobs.runtime.jit_cache_hook = None


def _grid(kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    """Return how many programs a launch would have along each axis."""
    grid = kwargs["grid"]
    if callable(grid):
        grid = grid(dict(zip(kernel.arg_names, args, strict=False)) | dict(kwargs))
    return tuple(grid)
