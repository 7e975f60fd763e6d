"""Which TileLang programs an implementation asks for, found out without a device."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import tilelang

from kernels.operation import Operation
from kernels.registry import Implementation
from kernels.toolchains import tilelang as programs
from platforms.targets import tilelang_reading
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading
from platforms.targets.toolchain import Build, Toolchain
from platforms.targets.typical import called


@dataclass(frozen=True)
class Asked:
    """A program with the arguments that make a kernel of it."""

    program: programs.Program
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        return f"{self.program.__module__.removeprefix('kernels.')}.{self.program.__name__.lstrip('_')}"

    @property
    def configuration(self) -> str:
        """The arguments, the dtype first."""
        return " ".join(str(one) for one in self.arguments)

    @functools.cached_property
    def function(self) -> Any:
        """What TileLang lowers."""
        return self.program(*self.arguments)

    @functools.cached_property
    def key(self) -> str:
        """A digest of the function as TileLang prints it."""
        return hashlib.sha256(self.function.script().encode()).hexdigest()[:24]

    @property
    def digest(self) -> str:
        """The same: nothing else is given to the compiler."""
        return self.key

    def read(self, one: Architecture) -> Reading:
        """Return what TileLang, and nvcc if it is there, make of it for an architecture."""
        return tilelang_reading.read(self.function, one)


def toolchain() -> Toolchain:
    """Return TileLang; raises ModuleNotFoundError where it is not installed."""
    return Toolchain("tilelang", f"TileLang {tilelang.__version__}", ("cuda", "hip"), _asked)


def _asked(operation: Operation, implementation: Implementation, dtype: str, one: Architecture) -> list[Build]:
    found: list[Build] = []

    def note(program: programs.Program, target: str, *arguments: Any) -> Callable[..., None]:
        found.append(Asked(program, arguments))
        return lambda *_: None

    with mock.patch.object(programs, "built", note):
        called(operation, implementation, dtype, again=found.clear)
    return list({build.key: build for build in found}.values())
