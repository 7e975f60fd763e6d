"""Simulated platforms: what vendors' files say, with a device under it that Python plays. Used on request alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platforms.accelerator import Accelerator
from platforms.claims import Claim
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.simulated.kinds import FLUSHED, SQUARE_ROOTS, TF32, WIDE_FLOATS, WIDE_INTEGERS
from platforms.vendor import Vendor
from platforms.vendors import VENDORS

_SINCE = (2, 10)
"""The version of torch that came with backends in Python."""

_VENDORS = {one.vendor.name: one.vendor for one in VENDORS}


@dataclass(frozen=True, kw_only=True)
class Simulated(Accelerator):
    """A platform on a simulated device.

    Attributes:
        simulates: the vendor whose device type and names it has.
        planted: its arithmetic, of :mod:`platforms.simulated.kinds`.
        unsupported: names of dtypes that it refuses.
        broken: what is planted besides in one of its devices alone, by the device's name.
    """

    paradigms: tuple[str, ...] = ("torch",)
    budget: int = 2**12
    on_request: bool = True
    untimed: str = "a simulation's time is none of a device"
    simulates: str
    planted: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "planted", tuple(self.planted))
        object.__setattr__(self, "unsupported", tuple(self.unsupported))
        object.__setattr__(self, "broken", {name: tuple(kinds) for name, kinds in self.broken.items()})

    @property
    def vendor(self) -> Vendor:  # type: ignore[override]
        return _VENDORS[self.simulates]

    @property
    def alone(self) -> str:
        return f"{self.collective} is played here by PyTorch's fake backend, which moves nothing between ranks"

    @property
    def hardware(self) -> str:
        return f"host {self.gateway}".strip()

    def prepare(self) -> None:
        from platforms.simulated.device import Device
        from platforms.simulated.ranks import register

        planted = (*self.planted, *self.broken.get(self.taken, ()))
        device = Device(self.vendor.kind, graph=self.vendor.graph, planted=planted, unsupported=self.unsupported)
        device.install(self.vendor.extension)
        register(self.collective, self.vendor.kind)
        super().prepare()

    def facts(self) -> dict[str, Any]:
        caveat = f"it is simulated on the processor: nothing here is a result of {self.vendor.title}"
        return {**super().facts(), "simulated": list(self.planted), "caveats": [caveat]}


SIMULATED = (
    Simulated(
        name="simulated-mlu",
        device="mlu:0",
        simulates="cambricon",
        visible=("0", "1"),
        planted=(WIDE_FLOATS, WIDE_INTEGERS, TF32),
    ),
    Simulated(name="simulated-npu", device="npu:0", simulates="ascend", planted=(FLUSHED,), unsupported=("float64",)),
    Simulated(name="simulated-musa", device="musa:0", simulates="mthreads", planted=(TF32, SQUARE_ROOTS)),
    Simulated(name="simulated-gcu", device="gcu:0", simulates="enflame", unsupported=("float64", "int64")),
)
"""The vendors with device types of their own, each with arithmetic that is reported of its cards."""


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the simulated platforms, or why they are not there."""
    version = tuple(int(part) for part in probe.torch_version.split("+")[0].split(".")[:2] if part.isdigit())
    for platform in SIMULATED:
        if not probe.torch_version:
            yield Absent(platform.name, probe.why_no_torch)
        elif version < _SINCE:
            yield Absent(platform.name, f"torch {probe.torch_version} has no backends in Python; 2.10 has")
        elif probe.private != "privateuseone":
            yield Absent(platform.name, f"torch's device type for extensions is taken here, by {probe.private}")
        else:
            yield platform
