"""Kernels in portable C++: compiled for this processor twice, and for others that an emulator stands for.

The sources are the same; what differs is what a compiler may make of them. x86-64's baseline has no fused
multiply-add, so that a product is rounded before it is added; GCC contracts the two to one operation wherever the
target has it (``-ffp-contract=fast``). Vectors are wider or narrower, and s390x has its bytes in the other order. An
implementation must be right in each of these ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.toolchains.cxx.target import VARIABLE, Target
from platforms import cxx_sanitizer
from platforms.claims import Claim
from platforms.outcome import Damage
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.tools import COMPILERS, CROSS, EMULATORS, first_of

FLAGS = ("-O3", "-ffp-contract=fast")
"""What every target is compiled with."""

_BIG_ENDIAN = ("s390x",)

_WHY_NOT = {
    "cuda": "CUDA C++ is not portable C++; platform cuda-cpu runs it on the processor",
    "torch": "it runs kernels in C++ and nothing else; platform cpu runs torch",
}


@dataclass(frozen=True, kw_only=True)
class Cpp(Platform):
    """Kernels in C++ for one target, which :data:`kernels.toolchains.cxx.target.VARIABLE` in its environment says."""

    device: str = "cpu"
    paradigms: tuple[str, ...] = ("cpp",)
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    budget: int = 2**16

    @property
    def target(self) -> Target:
        """What its kernels are compiled with and run by."""
        return Target.from_json(self.environment[VARIABLE])

    def facts(self) -> dict[str, Any]:
        from platforms.cxx_trial import version

        target = self.target
        return {
            **super().facts(),
            "name": " ".join((*target.emulator, "on", *target.compiler)) if target.emulator else self.name,
            "compiler": version(target.compiler[0]),
            "command": " ".join(target.compiler),
            "emulator": version(target.emulator[0]) if target.emulator else "",
            "byteorder": target.byteorder,
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.cxx_trial import lacking_in_cpp

        return {**super().capabilities(), **lacking_in_cpp()}

    def findings(self) -> Iterable[Damage]:
        return cxx_sanitizer.findings()

    def sanitized(self) -> Platform | Absent:
        return cxx_sanitizer.sanitized(self)


@dataclass(frozen=True, kw_only=True)
class Emulated(Cpp):
    """Kernels in C++ for another architecture. Each call is a process, some 20 ms; what it computes is slow."""

    budget: int = 2**13
    programs: int | None = 2**16
    untimed: str = "an emulator's time is none of a device"


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the targets that this machine can compile for and run, or why not and what would install them."""
    yield from _native(probe)
    for architecture in CROSS:
        yield _emulated(probe, architecture)


def why_no_compiler(probe: Probe) -> str:
    """Return why nothing can be compiled for the machine itself, or ""."""
    if not probe.torch_version:
        return probe.why_no_torch
    if not first_of(COMPILERS, probe.tools):
        return f"there is no C++ compiler, none of {', '.join(COMPILERS)}; sudo apt-get install g++"
    return ""


def compiled(compiler: str, *flags: str, emulator: Sequence[str] = (), big_endian: bool = False) -> dict[str, str]:
    """Return the environment that makes ``compiler`` and ``emulator`` a process's target."""
    order = "big" if big_endian else "little"
    return {VARIABLE: Target((compiler, *FLAGS, *flags), tuple(emulator), order).to_json()}  # type: ignore[arg-type]


def _native(probe: Probe) -> Iterator[Platform | Absent]:
    compiler, why = first_of(COMPILERS, probe.tools), why_no_compiler(probe)
    if why:
        yield Absent("cpp-x86-64", why)
        yield Absent("cpp-native", why)
        return
    if probe.machine == "x86_64":
        older = "platform cpp-native is the same processor, with all that it has"
        yield Cpp(name="cpp-x86-64", environment=compiled(compiler, "-march=x86-64"), untimed=older)
    else:
        yield Absent("cpp-x86-64", f"this machine is {probe.machine or 'of an unknown architecture'}")
    yield Cpp(name="cpp-native", environment=compiled(compiler, "-march=native"))


def _emulated(probe: Probe, architecture: str) -> Platform | Absent:
    name, compiler = f"qemu-{architecture}", CROSS[architecture]
    emulator = first_of(EMULATORS[architecture], probe.tools)
    if not probe.torch_version:
        return Absent(name, probe.why_no_torch)
    missing = [] if compiler in probe.tools else [(compiler, f"g++-{compiler.removesuffix('-g++')}")]
    missing += [] if emulator else [(EMULATORS[architecture][0], "qemu-user")]
    if missing:
        tools, packages = (" ".join(words) for words in zip(*missing, strict=True))
        return Absent(name, f"not installed: {tools.replace(' ', ', ')}; sudo apt-get install {packages}")
    big = architecture in _BIG_ENDIAN
    return Emulated(name=name, environment=compiled(compiler, emulator=(emulator,), big_endian=big))
