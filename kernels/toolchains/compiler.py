"""A compiler of a vendor's C++: where it is looked for, and what it is told. Plain data, which platforms bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

DIALECTS = Path(__file__).parent / "dialects"
"""Headers that let a compiler other than nvcc read CUDA C++, one a paradigm, and what stands for CUDA's own."""

GUESS = "guess"
"""The source of a flag that was read nowhere."""


@dataclass(frozen=True, kw_only=True)
class Compiler:
    """How a compiler is found and what it is told.

    Attributes:
        paradigm: of the sources in its own language.
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
        dialect: the header through which it reads CUDA C++; None where it reads that as it is, or not at all.
        trial: a source in its own language with an entry ``doubled``, where it does not read CUDA C++.
        sources: where its flags were read, those of one source together; :data:`GUESS` for those read nowhere.
    """

    paradigm: str
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
    dialect: Path | None = None
    trial: Path | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def told(self) -> str:
        """Return all that it is told to make a library, as people read it."""
        return " ".join(
            [*self.flags, *([self.architecture.format("ARCH")] if self.architecture else []), *self.library]
        )


OPTIMIZED = ("-O3", "-std=c++17")
"""What all compilers that are known here are told."""

NEEDED = "-Wl,--no-as-needed"
"""Libraries stand before the source that needs them, and would be dropped."""


def numbered(form: str) -> Callable[[torch.device], str]:
    """Return what fills ``form`` with the two numbers of what torch calls a device's capability."""

    def called(device: torch.device) -> str:
        import torch

        return form.format(*getattr(torch, device.type).get_device_capability(device))

    return called


def named_by_torch(device: torch.device) -> str:
    """Return the architecture that torch names, without what may be switched on it."""
    import torch

    return str(getattr(torch, device.type).get_device_properties(device).gcnArchName).partition(":")[0]


NVCC = Compiler(
    paradigm="cuda",
    names=("nvcc",),
    home=("CUDA_HOME",),
    folder="/usr/local/cuda",
    package="nvidia",
    flags=(*OPTIMIZED, "-x", "cu"),
    architecture="-arch={}",
    called=numbered("sm_{}{}"),
    library=("-shared", "-Xcompiler", "-fPIC"),
    suffix=".cu",
    sources={"-O3 -std=c++17 -x cu -arch=ARCH -shared -Xcompiler -fPIC": "met"},
)
"""CUDA's own."""
