"""Which kernels of a CUDA C++ source an implementation launches: read off the source, since nothing is called."""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

from kernels.operation import Operation
from kernels.registry import Implementation
from kernels.toolchains.cxx.build import BuildError
from platforms.targets import cuda_reading
from platforms.targets.architecture import ARCHITECTURES, Architecture
from platforms.targets.reading import Reading
from platforms.targets.toolchain import Build, NotTypical, Toolchain

_EXAMPLE = ARCHITECTURES["sm_80"]
"""Whose code tells which kernels there are: templates are what a source makes of them."""

_DTYPES = {
    "Float16": "float16",
    "BFloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bool": "bool",
}


@dataclass(frozen=True)
class Instance:
    """A kernel of a source, for the template arguments that ``label`` names."""

    source: Path
    label: str

    @property
    def name(self) -> str:
        return f"{self.source.parent.name}.{self.source.stem}.{self.label}"

    @property
    def configuration(self) -> str:
        """Nothing that the label does not say."""
        return ""

    @property
    def key(self) -> str:
        """A digest of the sources and the label."""
        return cuda_reading.digest(self.source, self.label)

    digest = key

    @property
    def names(self) -> set[str]:
        """The template's name, and those of what it was made for beside dtypes."""
        return set(re.findall(r"[A-Za-z_]\w*", self.label)) - set(" ".join(_DTYPES).split())

    @property
    def dtype(self) -> str:
        """That of the first template argument, or ""."""
        return _DTYPES.get(re.split("[<,>]", self.label)[1].strip(), "") if "<" in self.label else ""

    def read(self, one: Architecture) -> Reading:
        """Return what nvcc makes of it for an architecture; what it refuses is a reading too."""
        return cuda_reading.read(self.source, self.label, one)


def toolchain() -> Toolchain:
    """Return nvcc; raises RuntimeError where it is not here."""
    try:
        return Toolchain("cuda", f"nvcc {cuda_reading.version()}", ("cuda",), _instances)
    except BuildError as error:
        raise RuntimeError(str(error)) from None


def _instances(operation: Operation, implementation: Implementation, dtype: str, one: Architecture) -> list[Build]:
    source = Path(inspect.getfile(implementation.function)).with_suffix(".cu")
    if not source.exists():
        raise NotTypical(f"there is no {source.name} beside its file")
    names = reached(source.read_text(encoding="utf-8"), implementation.name)
    return [instance for instance in _all(source) if instance.dtype in (dtype, "") and instance.names <= names]


@functools.cache
def _all(source: Path) -> tuple[Instance, ...]:
    """Return the kernels of a source; raises BuildError where nvcc refuses it."""
    found = cuda_reading.listing(source, _EXAMPLE)
    if whole := found.get(cuda_reading.WHOLE):
        raise BuildError(whole.error or whole.unfinished)
    return tuple(Instance(source, label) for label in found)


def reached(text: str, entry: str) -> set[str]:
    """Return the names of what an entry of a source names, and of what that names in turn.

    What begins in the first column is taken for a definition, and what is indented below it for its body.
    """
    names: dict[str, set[str]] = {}
    for part in re.split(r"\n(?=\S)", re.sub(r"//.*", "", text)):
        head, _, body = part.partition("{")
        entries = [f"ENTRY({name})" for name in re.findall(r"^ENTRY\((\w+)", head)]
        for name in entries or re.findall(r"(\w+)\(", head):
            names.setdefault(name, set()).update(re.findall(r"\w+", body))
    seen, left = set(), {f"ENTRY({entry})"}
    while left:
        seen |= left
        left = set().union(*(names.get(name, ()) for name in left)) - seen
    return seen
