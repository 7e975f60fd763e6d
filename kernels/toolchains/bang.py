"""What the BANG C files share: one source, compiled by cncc for a card, or through a shim for the processor.

A source includes ``cxx/include/bang.hpp``. On the processor its tasks run one after another, and
``cxx/include/bang_shim.hpp`` says what is checked there and what nobody without a card can know.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import torch

from kernels.toolchains.cxx import abi
from kernels.toolchains.cxx.build import build
from kernels.toolchains.cxx.source import LIBRARY, STANDARD
from kernels.toolchains.cxx.target import Target, target
from kernels.toolchains.native import NativeSource

DTYPES = ("float32", "float16", "bfloat16")
"""The element types that the sources are compiled for."""

AXES = 4
"""How many axes the kernels' views can tell apart."""


class BangSource:
    """The kernels in a BANG C source; they are built the first time that one of them is called."""

    def __init__(self, python_file: str) -> None:
        """The source is the file beside ``python_file``, of the same name, whose suffix is ``.mlu``."""
        self.path = Path(python_file).with_suffix(".mlu")

    def call(
        self, name: str, *tensors: torch.Tensor, integers: Sequence[int] = (), reals: Sequence[float] = ()
    ) -> None:
        """Run ``ENTRY(name, ...)`` of the source on tensors, some of which it fills.

        Raises ValueError for tensors of more than :data:`AXES` axes, BuildError where no compiler is or it refuses
        the source, and KernelError where a launch fails or the shim sees that a rule of BANG C is broken.
        """
        if max(map(torch.Tensor.dim, tensors)) > AXES:
            raise ValueError(f"these kernels index at most {AXES} axes")
        if tensors[0].device.type == "cpu":
            abi.call(for_shim(self.path, target()), name, tensors, integers, reals)
        else:
            NativeSource(self.path, "bang").call(name, *tensors, integers=integers, reals=reals)


@functools.cache
def for_shim(source: Path, chosen: Target) -> Path:
    """Return the library of ``source`` for the processor; raises BuildError."""
    return build([source], [*chosen.compiler, STANDARD, *LIBRARY, "-DBANG_SHIM", "-x", "c++"])
