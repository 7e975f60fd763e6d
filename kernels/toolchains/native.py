"""Sources of a vendor's C++, compiled by the vendor's compiler and called on tensors of its devices.

A source has entries with a C interface, ``ENTRY(name, call)`` of ``cxx/include/kernel.hpp``, whatever its language.
CUDA's compiler is known here; a platform brings that of its devices (:mod:`platforms.vendor`).
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

from kernels.toolchains.compiler import DIALECTS, NVCC, Compiler
from kernels.toolchains.cxx import abi
from kernels.toolchains.cxx.build import BuildError, build

VARIABLE = "PORTOLAN_NATIVE"
"""The environment variable that holds the paradigm whose compiler this process's devices need; without it, "cuda"."""

_COMPILERS = {"cuda": NVCC}


def bring(one: Compiler) -> None:
    """Have sources of the compiler's paradigm compiled by it, and CUDA C++ for devices too."""
    _COMPILERS[one.paradigm] = one
    os.environ[VARIABLE] = one.paradigm


def compiler_of(paradigm: str) -> Compiler:
    """Return the compiler of a paradigm; raises BuildError where no platform of this process has brought one."""
    if paradigm not in _COMPILERS:
        known = ", ".join(_COMPILERS)
        raise BuildError(
            f"no compiler is known for {paradigm!r}, but for {known}; the platform of a vendor brings its own"
        )
    return _COMPILERS[paradigm]


class NativeSource:
    """The kernels in a source of one paradigm; they are built the first time that one of them is called."""

    def __init__(self, python_file: str | Path, paradigm: str, suffix: str = "") -> None:
        """The source is beside ``python_file``, of the same name, with the suffix of the paradigm or another one."""
        self.paradigm = paradigm
        self._beside, self._suffix = Path(python_file), suffix

    @property
    def path(self) -> Path:
        """The source; raises BuildError where nothing is known of the paradigm and so of its suffix."""
        return self._beside.with_suffix(self._suffix or compiler_of(self.paradigm).suffix)

    def call(
        self, name: str, *tensors: torch.Tensor, integers: Sequence[int] = (), reals: Sequence[float] = ()
    ) -> None:
        """Run ``ENTRY(name, ...)`` of the source on tensors of one device, on torch's current stream.

        Raises BuildError where there is no compiler, or it refuses the source, and KernelError where a launch fails.
        """
        device = tensors[0].device
        made = for_device(self.path, self.paradigm, device)
        namespace = getattr(torch, device.type)
        with nullcontext() if device.index == namespace.current_device() else namespace.device(device):
            stream = getattr(namespace.current_stream(), f"{device.type}_stream")
            abi.call(made, name, tensors, integers, reals, stream=stream)


def chosen() -> str:
    """Return the paradigm whose compiler this process's devices need, as :data:`VARIABLE` says."""
    return os.environ.get(VARIABLE, "cuda")


@functools.cache
def for_device(source: Path, paradigm: str, device: torch.device) -> Path:
    """Return the shared library of ``source`` for a device; raises BuildError, also without the compiler."""
    compiler(paradigm)  # the better reason, where torch does not know the device either
    return library(source, paradigm, architecture(paradigm, device))


def library(source: Path, paradigm: str, architecture: str) -> Path:
    """Return the shared library that the paradigm's compiler makes of ``source``; raises BuildError."""
    one = compiler_of(paradigm)
    found = compiler(paradigm)
    flags = [flag.format(home=_home(one, found)) for flag in one.library]
    if one.dialect is None or source.suffix != NVCC.suffix:
        return build([source], [*command(paradigm, architecture), *flags])
    read = [f"-I{DIALECTS}", "-include", str(one.dialect)]
    return build(
        [source], [*command(paradigm, architecture), *flags, *read], [*sorted(DIALECTS.iterdir()), one.dialect]
    )


def command(paradigm: str, architecture: str) -> list[str]:
    """Return the command, without sources, that compiles for an architecture, or "" for the compiler's default.

    Raises BuildError without the compiler.
    """
    one = compiler_of(paradigm)
    return [compiler(paradigm), *one.flags, *([one.architecture.format(architecture)] if architecture else [])]


def architecture(paradigm: str, device: torch.device) -> str:
    """Return how the paradigm's compiler calls the architecture of ``device``; "" if torch does not say."""
    return compiler_of(paradigm).called(device)


def compiler(paradigm: str) -> str:
    """Return the path of a compiler: in the folder that a variable names, on PATH, or where its toolkit usually lies.

    Raises BuildError, which says what was looked for and what helps.
    """
    one = compiler_of(paradigm)
    found = next((path for path in _candidates(one) if path.is_file()), None)
    if found is not None:
        return str(found)
    places = f"{', '.join(one.home)}, on PATH, in {one.folder}{' or a package of pip' if one.package else ''}"
    raise BuildError(
        f"there is no {' or '.join(one.names)}: not in {places}; "
        f"install the vendor's toolkit, or name its folder: export {one.home[0]}=..."
    )


def _candidates(one: Compiler) -> Iterator[Path]:
    # What somebody names goes before PATH, where other programs may have the same name: MATLAB has an mcc too.
    yield from _within(one, *_folders(one))
    yield from (Path(found) for name in one.names if (found := shutil.which(name)))
    yield from _within(one, one.folder)
    packages = importlib.util.find_spec(one.package) if one.package else None
    for folder in packages.submodule_search_locations or () if packages else ():
        yield from (path for name in one.names for path in sorted(Path(folder).glob(f"*/bin/{name}")))


def _home(one: Compiler, found: str) -> Path:
    """Return the toolkit's folder: as a variable names it, or the one that holds the compiler."""
    for named in _folders(one):
        return Path(named)
    folder = Path(found).resolve().parent
    within = next((within for within in one.within if folder.match(within)), "bin")
    return folder.parents[len(Path(within).parts) - 1]


def _folders(one: Compiler) -> list[str]:
    return [os.environ[variable] for variable in one.home if os.environ.get(variable)]


def _within(one: Compiler, *folders: str) -> Iterator[Path]:
    yield from (Path(folder) / within / name for folder in folders for within in one.within for name in one.names)


@functools.cache
def properties(device: torch.device) -> Any:
    """Return what torch says of a device that is not a processor."""
    return getattr(torch, device.type).get_device_properties(device)
