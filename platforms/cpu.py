"""The CPU through torch, and beside it the older code paths of torch's own kernels as platforms of their own.

Torch holds its CPU kernels several times, compiled for different vector units, and takes the best at start-up. The ones
below the best are different programs: they round and sum in another order. So each is a platform.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platforms.claims import HIDING, Claim
from platforms.platform import Absent, Platform
from platforms.probe import Probe

_PATHS = ("default", "avx2", "avx512")
"""The code paths on x86-64, from the plainest to the widest; names as ``ATEN_CPU_CAPABILITY`` takes them."""

_WHY_NOT = {
    "triton": "Triton has no backend for a CPU; platform interpreter runs its kernels there",
    "ninetoothed": "NineToothed generates Triton kernels; platform interpreter runs them",
}

_ROOT_OF_A_LIBRARY = {"error of sqrt": ("1 ULP",)}
"""Torch may leave roots of float64 to a library of vector mathematics, which is off in the last place at times."""


@dataclass(frozen=True, kw_only=True)
class Cpu(Platform):
    """The machine's processor. ``path`` names a code path of torch's kernels; "" is the one that torch takes itself."""

    name: str = "cpu"
    device: str = "cpu"
    paradigms: tuple[str, ...] = ("torch", "inductor", "tilelang")
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    budget: int = 2**18
    wave: int = 2**15  # elements that torch gives to one of its threads at a time
    deviations: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict(_ROOT_OF_A_LIBRARY))
    path: str = ""

    @property
    def worker_environment(self) -> dict[str, str]:
        # What kernel files import may ask drivers for devices, and torch.compile fails in a fork of a process that has.
        return {**HIDING, **self.environment}

    @property
    def collective(self) -> str:
        return "gloo"

    @property
    def most_ranks(self) -> int:
        return 64

    def open(self) -> None:
        import torch

        super().open()
        taken = torch.backends.cpu.get_cpu_capability().lower()
        if self.path and taken != self.path:
            raise RuntimeError(f"torch was told to take its {self.path} code path, and took {taken}")

    def facts(self) -> dict[str, Any]:
        import torch

        return {
            **super().facts(),
            "name": torch.backends.cpu.get_cpu_capability(),
            "mkldnn": torch.backends.mkldnn.is_available(),
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.tilelang_trial import lacking_in_tilelang
        from platforms.trial import missing_cpp_compiler

        missing = missing_cpp_compiler() if "inductor" in self.paradigms else ""
        tilelang = lacking_in_tilelang(self.device) if "tilelang" in self.paradigms else {}
        return {**super().capabilities(), **({"inductor": missing} if missing else {}), **tilelang}


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the CPU and the code paths below its best one, or why they are not there."""
    if not probe.torch_version:
        yield Absent("cpu", probe.why_no_torch)
        return
    yield Cpu()
    best = probe.cpu_capability.lower()
    below = _PATHS[: _PATHS.index(best)] if best in _PATHS else ()
    for path in _PATHS:
        if path in below:
            yield _code_path(path)
        elif best == path:
            yield Absent(f"cpu-{path}", "is what platform cpu itself runs on this machine")
        else:
            yield Absent(f"cpu-{path}", f"torch's best code path on this machine is {best or 'unknown'}")


def _code_path(path: str) -> Cpu:
    why = f"platform cpu-{path} is a code path of torch's own kernels, and nothing else is compiled for it"
    return Cpu(
        name=f"cpu-{path}",
        paradigms=("torch",),
        refusals={"inductor": why, "tilelang": why, **_WHY_NOT},
        environment={"ATEN_CPU_CAPABILITY": path},
        untimed="platform cpu is the same processor, with all that it has",
        path=path,
    )
