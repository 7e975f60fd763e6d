"""Compilers that need no device: what each compiles, and which of them are here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kernels.operation import Operation
from kernels.registry import Implementation
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading


class Build(Protocol):
    """One kernel in one configuration, to be compiled for any architecture."""

    @property
    def name(self) -> str:
        """Which kernel it is, as a reader finds it."""

    @property
    def configuration(self) -> str:
        """What it is built with, such as ``"M=128 N=256 num_warps=8"``."""

    @property
    def key(self) -> str:
        """A digest of what was asked for; equal where architectures ask for the same."""

    @property
    def digest(self) -> str:
        """A digest of all that the code depends on beside the architecture and the compiler."""

    def read(self, one: Architecture) -> Reading:
        """Return what the compiler makes of it for an architecture; what it refuses is a reading too."""


class NotTypical(Exception):
    """An implementation has no typical case; the message says why."""


@dataclass(frozen=True)
class Toolchain:
    """A paradigm's compiler.

    Attributes:
        paradigm: whose implementations it compiles.
        compiler: its name and version.
        backends: of the architectures that it compiles for.
        builds: returns what an implementation launches in a dtype on an architecture, each once; raises NotTypical, and
            whatever the implementation raises.
    """

    paradigm: str
    compiler: str
    backends: tuple[str, ...]
    builds: Callable[[Operation, Implementation, str, Architecture], list[Build]]


PARADIGMS = ("triton", "ninetoothed", "tilelang", "cuda")
"""What has a compiler that needs no device."""


def toolchain(paradigm: str) -> Toolchain:
    """Return the toolchain of a paradigm; raises RuntimeError, with the reason, where it is not here."""
    try:
        made: Toolchain = importlib.import_module(f"platforms.targets.{paradigm}_builds").toolchain()
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is not installed") from None
    return made
