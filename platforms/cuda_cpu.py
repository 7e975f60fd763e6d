"""Kernels in CUDA C++ on the processor: a compiler for it, and a fiber for each thread of a block.

What it finds (a barrier that is missing, an access out of bounds) holds for every device, since the kernel is the same.
A kernel that lacks a barrier is right in one order of the fibers and wrong in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platforms import cxx_sanitizer
from platforms.claims import Claim
from platforms.cpp import compiled, why_no_compiler
from platforms.outcome import Damage
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.tools import COMPILERS, first_of

ORDER = "PORTOLAN_FIBERS"
"""The environment variable that ``fibers.hpp`` reads; in a worker it holds one of :data:`ORDERS`."""

ORDERS = ("forward", "reversed")
"""In which order the threads of a block take turns, and its blocks follow each other."""

_WHY_NOT = {
    "cpp": "it runs kernels in CUDA C++ and nothing else; platform cpp-native runs portable C++",
    "torch": "it runs kernels in CUDA C++ and nothing else; platform cpu runs torch",
}


@dataclass(frozen=True, kw_only=True)
class CudaCpu(Platform):
    """CUDA C++ on fibers. The name says their order when it is not the usual one.

    A thread costs about a microsecond and as much again whenever it waits for others, so cases are small here.
    """

    name: str = "cuda-cpu"
    device: str = "cpu"
    paradigms: tuple[str, ...] = ("cuda",)
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    features: tuple[str, ...] = ("shared memory", "matrix unit")  # lanes play one
    budget: int = 4096
    programs: int | None = 2048
    untimed: str = "fibers play the threads, which takes a time of its own"
    order: str = "forward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in ORDERS:
            raise ValueError(f"unknown order {self.order!r}; there are {', '.join(ORDERS)}")
        if self.order != "forward" and self.name == "cuda-cpu":
            object.__setattr__(self, "name", f"cuda-cpu-{self.order}")
        object.__setattr__(self, "environment", {**self.environment, ORDER: self.order})

    def facts(self) -> dict[str, Any]:
        from kernels.toolchains.cxx.target import target
        from platforms.cxx_trial import version

        return {
            **super().facts(),
            "name": self.name,
            "compiler": version(target().compiler[0]),
            "order": self.order,
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.cuda_trial import lacking_in_cuda

        return {**super().capabilities(), **lacking_in_cuda(self.device)}

    def findings(self) -> Iterable[Damage]:
        return cxx_sanitizer.findings()

    def sanitized(self) -> Platform | Absent:
        return cxx_sanitizer.sanitized(self, "--param=asan-stack=0")  # it takes a fiber's stack for a heap


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield fibers in either order, or why they are not there."""
    if why := why_no_compiler(probe):
        yield Absent("cuda-cpu", why)
        return
    environment = compiled(first_of(COMPILERS, probe.tools))
    yield CudaCpu(environment=environment)
    for order in ORDERS[1:]:
        yield CudaCpu(environment=environment, order=order, on_request=True)
