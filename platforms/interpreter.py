"""Triton's interpreter on the CPU, guarded: it checks every access, and can run the programs in another order.

What it finds (an access outside a tensor, two programs in conflict) holds for every device, since the kernel is the
same. What it computes is not what a device computes: its arithmetic is NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.features import FEATURES
from platforms import guarded_interpreter
from platforms.claims import Claim
from platforms.platform import Absent, Platform
from platforms.probe import Probe

_WHY_NOT = {
    "torch": "the interpreter runs Triton kernels and what generates them, nothing else; platform cpu runs torch",
    "inductor": "the interpreter runs Triton kernels and what generates them, nothing else; platform cpu runs inductor",
}


@dataclass(frozen=True, kw_only=True)
class Interpreter(Platform):
    """Triton's guarded interpreter.

    ``order`` is the order in which the programs of a launch run, one of :data:`platforms.guarded_interpreter.ORDERS`,
    and ``seed`` which of the shuffled ones; a correct kernel does not care. ``races`` looks for conflicting programs.
    The name says the order when it is not the usual one. A program takes about half a millisecond an operation,
    whatever the number of elements, so cases are small here.
    """

    name: str = "interpreter"
    device: str = "cpu"
    paradigms: tuple[str, ...] = ("triton", "ninetoothed")
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    features: tuple[str, ...] = tuple(FEATURES)  # of hardware whose programs it only plays
    environment: Mapping[str, str] = field(default_factory=lambda: {"TRITON_INTERPRET": "1"})
    budget: int = 2048
    programs: int | None = 256
    untimed: str = "an interpreter's time is none of a device"
    order: str = "forward"
    seed: int = 0
    races: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in guarded_interpreter.ORDERS:
            known = ", ".join(guarded_interpreter.ORDERS)
            raise ValueError(f"unknown order {self.order!r}; there are {known}")
        if self.order != "forward" and self.name == "interpreter":
            object.__setattr__(self, "name", f"interpreter-{self.order}")

    def prepare(self) -> None:
        super().prepare()
        self._install()

    def facts(self) -> dict[str, Any]:
        import triton

        return {
            **super().facts(),
            "name": "interpreter",
            "triton": triton.__version__,
            "order": self.order,
            "caveats": [problem] if (problem := self._install().problem) else [],
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.triton_trial import lacking_in_triton

        return {**super().capabilities(), **lacking_in_triton(self.device)}

    def classify(self, error: BaseException) -> str | None:
        return guarded_interpreter.classify(error)

    def sanitized(self) -> Platform | Absent:
        return Absent(self.name, f"platform {self.name} checks every access in every run")

    def _install(self) -> guarded_interpreter.Report:
        return guarded_interpreter.install(order=self.order, seed=self.seed, races=self.races)


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the interpreter, or why it is not there."""
    if not probe.torch_version:
        yield Absent("interpreter", probe.why_no_torch)
    elif not probe.triton_version:
        yield Absent("interpreter", f"triton: {probe.errors.get('triton', 'is not installed')}")
    else:
        yield Interpreter()
        for order in guarded_interpreter.ORDERS[1:]:
            yield Interpreter(order=order, on_request=True)
