"""A source file of kernels, and the call of one of them on this process's target."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import torch

from kernels.toolchains.cxx import abi, emulated
from kernels.toolchains.cxx.build import build
from kernels.toolchains.cxx.target import Target, target

HARNESS = Path(__file__).parent / "harness.cpp"

STANDARD = "-std=gnu++17"
"""With ISO's own ``-std=c++17`` GCC would contract nothing, whatever ``-ffp-contract`` says otherwise."""

LIBRARY = ("-shared", "-fPIC")
"""What makes a shared library that a process can load."""

_PROGRAM = ("-static",)  # so that an emulator needs nothing else of the target


class Source:
    """The kernels in a C++ source; each is built the first time that one of them is called."""

    def __init__(self, python_file: str, suffix: str = ".cpp") -> None:
        """The source is the file with ``suffix`` beside ``python_file``, of the same name."""
        self.path = Path(python_file).with_suffix(suffix)

    def call(
        self, name: str, *tensors: torch.Tensor, integers: Sequence[int] = (), reals: Sequence[float] = ()
    ) -> None:
        """Run ``ENTRY(name, ...)`` of the source on tensors in the host's memory, some of which it fills.

        Raises BuildError where the compiler refuses the source, and KernelError where the kernel fails.
        """
        chosen = target()
        made = built(self.path, chosen)
        if chosen.emulator:
            emulated.call(made, chosen, name, tensors, integers, reals)
        else:
            abi.call(made, name, tensors, integers, reals)


@functools.cache
def built(source: Path, chosen: Target) -> Path:
    """Return the library, or the emulator's program, that ``source`` is for a target; raises BuildError."""
    if chosen.emulator:
        return build([source, HARNESS], [*chosen.compiler, STANDARD, *_PROGRAM])
    return build([source], [*chosen.compiler, STANDARD, *LIBRARY])
