"""Who a machine belongs to: one row a vendor, with the sign that only its software shows.

Seven vendors answer to ``torch.cuda``, so that its being available says nothing. A row's sign is a function of the
probe that returns what it saw, in words, or "". The strings that devices call themselves are from documents; correct a
row at the first contact with a card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from platforms.probe import Probe

PRIVATE = {
    "mlu": "cambricon",
    "npu": "ascend",
    "musa": "mthreads",
    "gcu": "enflame",
    "txda": "tsingmicro",
    "ptpu": "sunrise",
    "supa": "biren",
    "aipu": "aipu",
}
"""Torch device types that belong to one vendor alone, each registered by an extension named ``torch_<type>``."""

DEVICE_TYPES = ("cuda", "xpu", "mps", *PRIVATE)
"""The torch device types that a probe asks for."""

MODULES = (*(f"torch_{kind}" for kind in PRIVATE), "torch_xmlir", "intel_extension_for_pytorch")
"""Modules whose being installed is a sign; they are looked for, never imported."""

ATTRIBUTES = ("corex", "__hcu_version__")
"""Attributes of torch that are a sign."""

ENVIRONMENT = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "PPU_SDK", "MACA_PATH", "FLAGTREE_BACKEND")
"""Environment variables that detection looks at."""

HIDING = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
"""Environment variables that hide devices from a process that has no use for them."""

FILES = ("/proc/kunlun/version",)
"""Files whose existence is a sign."""


@dataclass(frozen=True)
class Claim:
    """A vendor's claim to the machine: the torch device type that it answers to, and the sign, in words."""

    vendor: str
    device: str
    sign: str


@dataclass(frozen=True)
class _Vendor:
    name: str
    device: str
    sign: Callable[[Probe], str]


def claims_of(probe: Probe, chosen: str | None = None) -> list[Claim]:
    """Return the claims to the machine; that of ``chosen`` alone if it is named and shows its sign.

    What answers to ``torch.cuda`` and shows the sign of nobody else is NVIDIA if its device says so. Under a vendor's
    migration shim ``torch.cuda`` is a mask of that vendor's own device, and makes no claim.
    """
    claims = [Claim(vendor.name, vendor.device, sign) for vendor in _VENDORS if (sign := _sign(vendor, probe))]
    if chosen in {claim.vendor for claim in claims}:
        return [claim for claim in claims if claim.vendor == chosen]
    if len(claims) > 1:
        claims = [claim for claim in claims if claim.vendor != "nvidia"]
    return claims


def idle_modules(probe: Probe) -> list[tuple[str, str]]:
    """Return (vendor, why it makes no claim) for each vendor whose extension is installed without a device."""
    return [
        (vendor, f"torch_{kind} is installed, but {_why_idle(probe, kind)}")
        for kind, vendor in PRIVATE.items()
        if f"torch_{kind}" in probe.modules and kind not in probe.available
    ]


def _why_idle(probe: Probe, kind: str) -> str:
    return f"torch.{kind}: {probe.errors[kind]}" if kind in probe.errors else f"torch.{kind} is not available"


def _sign(vendor: _Vendor, probe: Probe) -> str:
    return vendor.sign(probe) if vendor.device in probe.available else ""


def _name(probe: Probe, device: str = "cuda") -> str:
    devices = probe.devices_of(device)
    return devices[0].name if devices else ""


def _builds(probe: Probe) -> str:
    return f"{probe.torch_version} {probe.torch_distribution}".lower()


def _nvidia(probe: Probe) -> str:
    brands = ("nvidia", "tesla", "geforce", "quadro", "titan")
    named = any(brand in _name(probe).lower() for brand in brands)
    return f"the device is called {_name(probe)!r}" if named and probe.version.get("cuda") else ""


def _metax(probe: Probe) -> str:
    if probe.version.get("maca"):
        return f"torch.version.maca is {probe.version['maca']!r}"
    if "+metax" in _builds(probe):
        return f"torch is the build {_builds(probe).split()[0]!r}"
    return f"the device is called {_name(probe)!r}" if "metax" in _name(probe).lower() else ""


def _iluvatar(probe: Probe) -> str:
    if "corex" in probe.attributes:
        return "torch.corex exists"
    if "corex" in _builds(probe):
        return f"torch is the build {_builds(probe).split()[-1]!r}"
    name = _name(probe).lower()
    return f"the device is called {_name(probe)!r}" if "iluvatar" in name or name.startswith("bi-v") else ""


def _hygon_mark(probe: Probe) -> str:
    """AMD's gfx906 is also this vendor's, so that architecture alone is no sign."""
    devices = probe.devices_of("cuda")
    arch = devices[0].arch.split(":")[0] if devices else ""
    if "__hcu_version__" in probe.attributes:
        return "torch.__hcu_version__ exists"
    if "dtk" in _builds(probe):
        return f"torch is the build {_builds(probe).split()[0]!r}"
    return f"the architecture is {arch}" if arch in ("gfx928", "gfx936", "gfx938") else ""


def _hygon(probe: Probe) -> str:
    return _hygon_mark(probe) if probe.version.get("hip") else ""


def _amd(probe: Probe) -> str:
    hip = probe.version.get("hip")
    return f"torch.version.hip is {hip!r}" if hip and not _hygon_mark(probe) else ""


def _kunlunxin(probe: Probe) -> str:
    there = "torch_xmlir" in probe.modules and "/proc/kunlun/version" in probe.files
    return "torch_xmlir is installed and /proc/kunlun/version exists" if there else ""


def _thead(probe: Probe) -> str:
    if "PPU_SDK" in probe.env:
        return "the environment has PPU_SDK"
    return f"the device is called {_name(probe)!r}" if "ppu" in _name(probe).lower().split("-")[0] else ""


def _own(kind: str) -> Callable[[Probe], str]:
    return lambda probe: f"torch.{kind} is available"


def _without_cuda(kind: str) -> Callable[[Probe], str]:
    """These device types come with torch itself, so they claim the machine only when no accelerator card does."""
    return lambda probe: f"torch.{kind} is available" if "cuda" not in probe.available else ""


_VENDORS = (
    _Vendor("nvidia", "cuda", _nvidia),
    _Vendor("amd", "cuda", _amd),
    _Vendor("metax", "cuda", _metax),
    _Vendor("iluvatar", "cuda", _iluvatar),
    _Vendor("hygon", "cuda", _hygon),
    _Vendor("kunlunxin", "cuda", _kunlunxin),
    _Vendor("thead", "cuda", _thead),
    _Vendor("intel", "xpu", _without_cuda("xpu")),
    _Vendor("apple", "mps", _without_cuda("mps")),
    *(_Vendor(vendor, kind, _own(kind)) for kind, vendor in PRIVATE.items()),
)

VENDORS = tuple(vendor.name for vendor in _VENDORS)
"""The names of all vendors whose sign is known."""
