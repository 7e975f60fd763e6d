"""A platform as a third party writes it: a device type of its own, and a compiler of its own paradigm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kernels.toolchains.compiler import Compiler
from platforms.accelerator import Accelerator
from platforms.claims import Claim
from platforms.platform import Platform
from platforms.probe import Probe
from platforms.simulated.device import Device
from platforms.vendor import Vendor, answers


@dataclass(frozen=True, kw_only=True)
class Acme(Accelerator):
    """Its device is played by the processor; a vendor's extension of torch would bring one."""

    name: str = "acme"
    device: str = "acme:0"
    paradigms: tuple[str, ...] = ("torch", "acme")
    budget: int = 2**12
    vendor: ClassVar[Vendor] = Vendor(
        name="acme",
        title="Acme",
        kind="acme",
        sign=answers("acme"),
        extension="torch_acme",
        compiler=Compiler(
            paradigm="acme",
            names=("acmecc",),
            home=("ACME_HOME",),
            folder="/opt/acme",
            flags=("-O2", "-std=c++17", "-x", "c++"),
            suffix=".acme",
            trial=Path(__file__).with_name("acme_kernels.acme"),
        ),
    )

    def prepare(self) -> None:
        """Have torch know the device, as importing a vendor's extension would."""
        Device(self.vendor.kind, graph="").install(self.vendor.extension)
        super().prepare()


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform]:
    """Yield the platform, which is everywhere."""
    yield Acme()
