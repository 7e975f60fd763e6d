"""OpenCL devices, one platform each, named after the driver: ``opencl-pocl``, ``opencl-intel``, ...

A kernel's text is the same everywhere; the compiler behind it is the driver's own, and so are its functions and how
work-items meet. Tensors live on the host, and a device that shares its memory works in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platforms.claims import Claim
from platforms.opencl_devices import driver
from platforms.platform import Absent, Platform
from platforms.probe import OpenclDevice, Probe

INSTALL = "python -m pip install -r requirements-opencl.txt"
"""What installs the loader, and a driver for processors of x86-64."""

INSTALL_DRIVER = "apt-get install pocl-opencl-icd"
"""What installs a driver for any processor."""

_DRIVERS = {
    "portable computing language": "pocl",
    "intel(r) opencl graphics": "intel-gpu",
    "intel(r) fpga": "intel-fpga",
    "intel(r)": "intel",
    "nvidia": "nvidia",
    "amd": "amd",
    "arm": "arm",
    "qualcomm": "qualcomm",
    "apple": "apple",
    "rusticl": "rusticl",
    "clover": "clover",
    "oclgrind": "oclgrind",
}
"""What drivers call themselves, or how that begins, and what they are called here; the first that fits."""

_WHY_NOT = {
    "torch": "an OpenCL driver runs OpenCL kernels and nothing else; platform cpu runs torch",
    "inductor": "an OpenCL driver runs OpenCL kernels and nothing else; platform cpu runs inductor",
    "triton": "an OpenCL driver runs OpenCL kernels and nothing else",
}

_LIMITS = ("max_compute_units", "max_work_group_size", "local_mem_size", "global_mem_size", "max_mem_alloc_size")


@dataclass(frozen=True, kw_only=True)
class Opencl(Platform):
    """One OpenCL device; ``chip`` is the name that it gives itself."""

    name: str = "opencl"
    device: str = "cpu"
    paradigms: tuple[str, ...] = ("opencl",)
    refusals: Mapping[str, str] = field(default_factory=lambda: dict(_WHY_NOT))
    features: tuple[str, ...] = ("shared memory",)
    budget: int = 2**18
    chip: str = ""

    @property
    def title(self) -> str:
        return self.chip

    def open(self) -> None:
        from kernels.toolchains.opencl import queue

        super().open()
        taken = queue().device.name.strip()
        if taken != self.chip:
            raise RuntimeError(f"the device was to be {self.chip!r}, and is {taken!r}: have drivers come or gone?")

    def synchronize(self) -> None:
        from kernels.toolchains.opencl import queue

        queue().finish()

    def facts(self) -> dict[str, Any]:
        import pyopencl

        from kernels.toolchains.opencl import queue

        device = queue().device
        return {
            **super().facts(),
            "name": device.name.strip(),
            "driver": f"{device.platform.name.strip()} {device.driver_version.strip()}",
            "opencl": device.version.strip(),
            "opencl_c": device.opencl_c_version.strip(),
            "pyopencl": pyopencl.VERSION_TEXT,
            "limits": {name: int(getattr(device, name)) for name in _LIMITS},
        }

    def capabilities(self) -> dict[str, str]:
        from platforms.opencl_trial import lacking_in_opencl

        return lacking_in_opencl()


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield a platform for each OpenCL device, or why there is none."""
    if not probe.torch_version:
        yield Absent("opencl", probe.why_no_torch)
    elif not probe.pyopencl_version:
        reason = probe.errors.get("opencl", "is not installed")
        yield Absent("opencl", f"pyopencl: {reason}; {INSTALL}")
    elif not probe.opencl:
        reason = probe.errors.get("opencl", "there is no driver")
        yield Absent("opencl", f"{reason}; {INSTALL}, or {INSTALL_DRIVER}")
    else:
        yield from _platforms(probe.opencl)


def _platforms(devices: Sequence[OpenclDevice]) -> Iterator[Platform]:
    seen: set[tuple[str, str, str, str]] = set()
    names: list[str] = []
    for device in devices:
        # A driver that the system has and pip too is one driver.
        who = (device.platform, device.name, device.driver, device.choice.rpartition(":")[2])
        if who in seen:
            continue
        seen.add(who)
        names.append(_driver_name(device.platform))
        number = names.count(names[-1])
        yield Opencl(
            name=f"opencl-{names[-1]}" + (f"-{number}" if number > 1 else ""),
            environment={**driver(device.library), "PYOPENCL_CTX": device.choice},
            chip=device.name,
        )


def _driver_name(platform: str) -> str:
    """Return what a driver is called here; for one that nobody knows, the first word of what it calls itself."""
    said = platform.lower()
    known = (name for start, name in _DRIVERS.items() if said.startswith(start))
    return next(known, "") or re.sub("[^a-z0-9]+", "-", said.partition(" ")[0]).strip("-") or "unknown"
