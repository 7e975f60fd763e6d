"""Kernels in BANG C on the processor, through a shim of the part of the language that they use.

It finds what is wrong by the language's own rules: sizes and alignments in on-chip memory, what was never written
there, tasks that need an order. No result of it is one of an MLU, whose own arithmetic only a card can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platforms.claims import Claim
from platforms.cpp import compiled, why_no_compiler
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.tools import COMPILERS, first_of

ORDER = "PORTOLAN_TASKS"
"""The environment variable that ``bang_shim.hpp`` reads; in a worker it holds one of :data:`ORDERS`."""

ORDERS = ("forward", "reversed", "shuffled")
"""In which order the tasks of a launch follow each other."""

_WHY_NOT = {
    "cpp": "it runs kernels in BANG C and nothing else; platform cpp-native runs portable C++",
    "torch": "it runs kernels in BANG C and nothing else; platform cpu runs torch",
}


@dataclass(frozen=True, kw_only=True)
class BangShim(Platform):
    """BANG C through the shim. The name says the order of tasks when it is not the usual one."""

    name: str = "bang-shim"
    device: str = "cpu"
    paradigms: tuple[str, ...] = ("bang",)
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    budget: int = 2**13
    untimed: str = "a shim plays the card, which takes a time of its own"
    on_request: bool = True
    order: str = "forward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in ORDERS:
            raise ValueError(f"unknown order {self.order!r}; there are {', '.join(ORDERS)}")
        if self.order != "forward" and self.name == "bang-shim":
            object.__setattr__(self, "name", f"bang-shim-{self.order}")
        object.__setattr__(self, "environment", {**self.environment, ORDER: self.order})

    def facts(self) -> dict[str, Any]:
        from kernels.toolchains.cxx.target import target
        from platforms.cxx_trial import version

        return {
            **super().facts(),
            "name": f"{self.name} (shim)",
            "compiler": version(target().compiler[0]),
            "order": self.order,
            "caveats": ["a shim of BANG C on the processor; no result of it is one of an MLU"],
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.bang_trial import lacking_in_bang

        return {**super().capabilities(), **lacking_in_bang(self.device)}


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the shim in each order of tasks, or why it is not there."""
    if why := why_no_compiler(probe):
        yield Absent("bang-shim", why)
        return
    environment = compiled(first_of(COMPILERS, probe.tools))
    for order in ORDERS:
        yield BangShim(environment=environment, order=order)
