"""What the CUDA C++ files share: one source, compiled for a device, or on fibers for the processor.

For a device nvcc compiles it, or the compiler of another vendor (:mod:`kernels.toolchains.native`); clang does for GPUs
that are not there, to see whether it can be. A source includes ``cxx/include/device.hpp``.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch

from kernels.toolchains.cxx import abi
from kernels.toolchains.cxx.build import BuildError, build
from kernels.toolchains.cxx.source import LIBRARY, STANDARD
from kernels.toolchains.cxx.target import Target, target
from kernels.toolchains.native import NativeSource, chosen, command, compiler, properties

AXES = 4
"""How many axes the kernels' views can tell apart."""


class CudaSource:
    """The kernels in a CUDA C++ source; they are built the first time that one of them is called."""

    def __init__(self, python_file: str, suffix: str = ".cu") -> None:
        """The source is the file with ``suffix`` beside ``python_file``, of the same name."""
        self.path = Path(python_file).with_suffix(suffix)

    def call(
        self, name: str, *tensors: torch.Tensor, integers: Sequence[int] = (), reals: Sequence[float] = ()
    ) -> None:
        """Run ``ENTRY(name, ...)`` of the source on tensors of one device, some of which it fills.

        Raises ValueError for tensors of more than :data:`AXES` axes, BuildError where the compiler refuses the source,
        and KernelError where a launch fails.
        """
        if max(map(torch.Tensor.dim, tensors)) > AXES:
            raise ValueError(f"these kernels index at most {AXES} axes")
        if tensors[0].device.type == "cpu":
            abi.call(for_processor(self.path, target()), name, tensors, integers, reals)
        else:
            self.native.call(name, *tensors, integers=integers, reals=reals)

    @functools.cached_property
    def native(self) -> NativeSource:
        """The same source for devices, by the compiler that those of this process need."""
        return NativeSource(self.path, chosen(), self.path.suffix)


def multiprocessors(x: torch.Tensor) -> int:
    """Return how many multiprocessors the device of ``x`` has: one of a processor."""
    return properties(x.device).multi_processor_count if x.device.type != "cpu" else 1


def has_matrix_units(x: torch.Tensor) -> bool:
    """Return whether kernels have tiles of float16 and bfloat16 multiplied where ``x`` is; on a processor, by lanes."""
    return x.device.type == "cpu" or (chosen() == "cuda" and properties(x.device).major >= 8)


@functools.cache
def for_processor(source: Path, chosen: Target) -> Path:
    """Return the library of ``source`` on fibers; raises BuildError."""
    return build([source], [*chosen.compiler, STANDARD, *LIBRARY, "-x", "c++"])


@functools.cache
def device_code(source: Path, architecture: str) -> Path:
    """Return what ``source`` is for an architecture that no device here need have: ``sm_90``, or ``gfx942``.

    For the first kind nvcc makes it, for the second clang; raises BuildError, also without them.
    """
    if architecture.startswith("gfx"):
        return build([source], [clang(), *_HIP, f"--offload-arch={architecture}"])
    return build([source], [*device_compiler(architecture), "-cubin"])


def device_compiler(architecture: str) -> list[str]:
    """Return the command, without sources, that compiles for an architecture; raises BuildError without nvcc."""
    return command("cuda", architecture)


_HIP = ("-x", "hip", "-O3", "-std=c++17", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")
"""CUDA C++ in all but its headers, for which ``amdgcn.hpp`` stands."""

CLANGS = (*(f"clang-{version}" for version in range(24, 16, -1)), "clang")


def clang() -> str:
    """Return the newest clang on PATH that finds its linker; raises BuildError."""
    found = next(filter(_links, filter(shutil.which, CLANGS)), None)
    if found is None:
        raise BuildError("there is no clang with its linker on PATH; sudo apt-get install clang-19 lld-19")
    return found


def _links(clang: str) -> bool:
    # It prints the bare name of a program that it does not find.
    printed = subprocess.run([clang, "--print-prog-name=lld"], capture_output=True, text=True, check=False).stdout
    return shutil.which(printed.strip()) is not None


def nvcc() -> str:
    """Return the path of nvcc: in the toolkit's folder, on PATH, or in a package of pip; raises BuildError."""
    return compiler("cuda")
