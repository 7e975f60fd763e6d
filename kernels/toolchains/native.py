"""Sources of a vendor's C++, compiled by the vendor's compiler and called on tensors of its devices.

A source has entries with a C interface, ``ENTRY(name, call)`` of ``cxx/include/kernel.hpp``, whatever its language.
Only nvcc has compiled any: the other rows of :data:`COMPILERS` are as build files of others have them, the headers in
``dialects/`` as the functions of those runtimes are called. None of these compilers has been met.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kernels.toolchains.cxx import abi
from kernels.toolchains.cxx.build import BuildError, build

DIALECTS = Path(__file__).parent / "dialects"
"""Headers that let a compiler other than nvcc read CUDA C++, one a paradigm, and what stands for CUDA's own."""

VARIABLE = "PORTOLAN_NATIVE"
"""The environment variable that holds the paradigm whose compiler this process's devices need; without it, "cuda"."""


@dataclass(frozen=True, kw_only=True)
class Compiler:
    """How a vendor's compiler is found and what it is told.

    Attributes:
        names: what it may be called, the best known first.
        home: the environment variables that may name the toolkit's folder.
        folder: where the toolkit lies if none of them does.
        within: the folders of the toolkit that hold programs.
        package: a namespace of pip whose packages may hold it, in a folder ``bin``.
        flags: what every compilation is told.
        architecture: the flag that names one, to be formatted with it; "" where none can be read from torch's device,
            so that the compiler's own default holds.
        called: returns how it calls the architecture of a device, as torch tells it.
        library: what makes a shared library; ``{home}`` is the toolkit's folder.
        suffix: of sources in its own language.
        foreign: whether CUDA C++ is read through the header of the paradigm in :data:`DIALECTS`.
        source: where the flags were read.
    """

    names: tuple[str, ...]
    home: tuple[str, ...]
    folder: str
    within: tuple[str, ...] = ("bin",)
    package: str = ""
    flags: tuple[str, ...]
    architecture: str = ""
    called: Callable[[torch.device], str] = lambda device: ""
    library: tuple[str, ...] = ("-shared", "-fPIC")
    suffix: str
    foreign: bool = True
    source: str


def _numbered(form: str) -> Callable[[torch.device], str]:
    """Return what fills ``form`` with the two numbers of what torch calls a device's capability."""
    return lambda device: form.format(*getattr(torch, device.type).get_device_capability(device))


def _named_by_torch(device: torch.device) -> str:
    """Return the architecture that torch names, without what may be switched on it."""
    return str(properties(device).gcnArchName).partition(":")[0]


_OPTIMIZED = ("-O3", "-std=c++17")
_NEEDED = "-Wl,--no-as-needed"  # libraries stand before the source that needs them, and would be dropped

COMPILERS = {
    "cuda": Compiler(
        names=("nvcc",),
        home=("CUDA_HOME",),
        folder="/usr/local/cuda",
        package="nvidia",
        flags=(*_OPTIMIZED, "-x", "cu"),
        architecture="-arch={}",
        called=_numbered("sm_{}{}"),
        library=("-shared", "-Xcompiler", "-fPIC"),
        suffix=".cu",
        foreign=False,
        source="met",
    ),
    "hip": Compiler(
        names=("hipcc",),
        home=("ROCM_PATH", "HIP_PATH"),
        folder="/opt/rocm",
        flags=(*_OPTIMIZED, "-x", "hip"),
        architecture="--offload-arch={}",
        called=_named_by_torch,
        suffix=".hip",
        source="LLVM, HIP support in clang",
    ),
    "maca": Compiler(
        names=("mxcc",),
        home=("MACA_PATH", "MACA_HOME"),
        folder="/opt/maca",
        within=("mxgpu_llvm/bin", "bin"),
        flags=(*_OPTIMIZED, "-x", "maca"),
        library=("-shared", "-fPIC", "--maca-path={home}"),
        suffix=".maca",
        source="InfiniCore, xmake/metax.lua",
    ),
    "musa": Compiler(
        names=("mcc",),
        home=("MUSA_HOME", "MUSA_PATH"),
        folder="/usr/local/musa",
        flags=(*_OPTIMIZED, "-x", "musa"),
        architecture="--offload-arch={}",
        called=_numbered("mp_{}{}"),
        library=("-shared", "-fPIC", "-I{home}/include", "-L{home}/lib", _NEEDED, "-lmusart"),
        suffix=".mu",
        source="InfiniCore, xmake/moore.lua; torch_musa, musa_extension.py",
    ),
    "bang": Compiler(
        names=("cncc",),
        home=("NEUWARE_HOME",),
        folder="/usr/local/neuware",
        flags=_OPTIMIZED,
        architecture="--bang-arch={}",
        called=_numbered("compute_{}{}"),
        library=("--shared", "-fPIC", "-I{home}/include", "-L{home}/lib64", _NEEDED, "-lcnrt", "-lstdc++"),
        suffix=".mlu",
        foreign=False,
        source="InfiniOps, CMakeLists.txt of cambricon; torch_mlu, examples/mlu_extension",
    ),
}
"""The compilers by the paradigm of what they compile."""


class NativeSource:
    """The kernels in a source of one paradigm; they are built the first time that one of them is called."""

    def __init__(self, python_file: str | Path, paradigm: str, suffix: str = "") -> None:
        """The source is the file beside ``python_file`` of the same name, with the suffix of the paradigm or another.

        Raises ValueError for a paradigm that has no compiler here.
        """
        if paradigm not in COMPILERS:
            raise ValueError(f"no compiler is known for {paradigm!r}; there are those of {', '.join(COMPILERS)}")
        self.paradigm = paradigm
        self.path = Path(python_file).with_suffix(suffix or COMPILERS[paradigm].suffix)

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
    one = COMPILERS[paradigm]
    found = compiler(paradigm)
    flags = [flag.format(home=_home(one, found)) for flag in one.library]
    if not (one.foreign and source.suffix == ".cu"):
        return build([source], [*command(paradigm, architecture), *flags])
    read = [f"-I{DIALECTS}", "-include", str(DIALECTS / f"{paradigm}.hpp")]
    return build([source], [*command(paradigm, architecture), *flags, *read], sorted(DIALECTS.iterdir()))


def command(paradigm: str, architecture: str) -> list[str]:
    """Return the command, without sources, that compiles for an architecture, or "" for the compiler's default.

    Raises BuildError without the compiler.
    """
    one = COMPILERS[paradigm]
    return [compiler(paradigm), *one.flags, *([one.architecture.format(architecture)] if architecture else [])]


def architecture(paradigm: str, device: torch.device) -> str:
    """Return how the paradigm's compiler calls the architecture of ``device``; "" if torch does not say."""
    return COMPILERS[paradigm].called(device)


def compiler(paradigm: str) -> str:
    """Return the path of a compiler: in the folder that a variable names, on PATH, or where its toolkit usually lies.

    Raises BuildError, which says what was looked for and what helps.
    """
    one = COMPILERS[paradigm]
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
