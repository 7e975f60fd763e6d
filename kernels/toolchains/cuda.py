"""What the CUDA C++ files share: one source, compiled by nvcc for a device, or on fibers for the processor.

Clang compiles it for GPUs that nvcc does not know, to see whether it can be. A source includes
``cxx/include/device.hpp``. Tensors on a device are given to kernels where they lie, launched on torch's current stream.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from kernels.toolchains.cxx import abi
from kernels.toolchains.cxx.build import BuildError, build
from kernels.toolchains.cxx.source import LIBRARY, STANDARD
from kernels.toolchains.cxx.target import Target, target

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
        device = tensors[0].device
        if device.type == "cpu":
            abi.call(for_processor(self.path, target()), name, tensors, integers, reals)
            return
        with nullcontext() if device.index == torch.cuda.current_device() else torch.cuda.device(device):
            stream = torch.cuda.current_stream().cuda_stream
            abi.call(for_device(self.path, device), name, tensors, integers, reals, stream=stream)


def multiprocessors(x: torch.Tensor) -> int:
    """Return how many multiprocessors the device of ``x`` has: one of a processor."""
    return _properties(x.device).multi_processor_count if x.is_cuda else 1


def has_matrix_units(x: torch.Tensor) -> bool:
    """Return whether the device of ``x`` multiplies tiles of float16 and bfloat16; lanes on a processor play that."""
    return not x.is_cuda or _properties(x.device).major >= 8


@functools.cache
def _properties(device: torch.device) -> Any:
    return torch.cuda.get_device_properties(device)


@functools.cache
def for_processor(source: Path, chosen: Target) -> Path:
    """Return the library of ``source`` on fibers; raises BuildError."""
    return build([source], [*chosen.compiler, STANDARD, *LIBRARY, "-x", "c++"])


@functools.cache
def for_device(source: Path, device: torch.device) -> Path:
    """Return the library of ``source`` for a device; raises BuildError, also without nvcc."""
    architecture = "sm_{}{}".format(*torch.cuda.get_device_capability(device))
    return build([source], [*device_compiler(architecture), "-shared", "-Xcompiler", "-fPIC"])


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
    return [nvcc(), "-O3", "-std=c++17", f"-arch={architecture}", "-x", "cu"]


_HIP = ("-x", "hip", "-O3", "-std=c++17", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")
"""CUDA C++ in all but its headers, for which ``amdgcn.hpp`` stands."""

CLANGS = (*(f"clang-{version}" for version in range(24, 16, -1)), "clang")


def clang() -> str:
    """Return the newest clang on PATH; raises BuildError."""
    found = next(filter(shutil.which, CLANGS), None)
    if found is None:
        raise BuildError("there is no clang on PATH; sudo apt-get install clang-19 lld-19")
    return found


def nvcc() -> str:
    """Return the path of nvcc: on PATH, in the toolkit's folder, or in a package of pip; raises BuildError."""
    found = next((path for path in _candidates() if path.is_file()), None)
    if found is None:
        raise BuildError("there is no nvcc: not on PATH, not in CUDA_HOME, /usr/local/cuda or a package of pip")
    return str(found)


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("nvcc")
    if on_path:
        yield Path(on_path)
    yield Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "nvcc"
    packages = importlib.util.find_spec("nvidia")
    for folder in packages.submodule_search_locations or () if packages else ():
        yield from sorted(Path(folder).glob("*/bin/nvcc"))
