"""Who a machine belongs to: every vendor whose sign it shows.

Seven vendors answer to ``torch.cuda``, so that its being available says nothing. The signs are in the vendors' own
files (:mod:`platforms.vendors`); the strings that devices call themselves are from documents.
"""

from __future__ import annotations

from dataclasses import dataclass

from platforms.probe import Probe
from platforms.vendor import Vendor, answers
from platforms.vendors import VENDORS

_NO_FILE = {"txda": "tsingmicro", "ptpu": "sunrise", "supa": "biren", "aipu": "aipu"}
"""Torch device types of vendors that have no file yet, each registered by an extension named ``torch_<type>``."""

KNOWN = (
    *(one.vendor for one in VENDORS),
    *(
        Vendor(name=name, title=name, kind=kind, sign=answers(kind), extension=f"torch_{kind}")
        for kind, name in _NO_FILE.items()
    ),
)
"""Every vendor that can be recognised."""

DEVICE_TYPES = tuple(dict.fromkeys(vendor.kind for vendor in KNOWN))
"""The torch device types that a probe asks for."""

MODULES = tuple(dict.fromkeys(name for vendor in KNOWN for name in (vendor.extension, *vendor.modules) if name))
"""Modules whose being installed is a sign; they are looked for, never imported."""

ATTRIBUTES = tuple(dict.fromkeys(name for vendor in KNOWN for name in vendor.attributes))
"""Attributes of torch that are a sign."""

ENVIRONMENT = tuple(dict.fromkeys(name for vendor in KNOWN for name in (vendor.visible, *vendor.environment) if name))
"""Environment variables that detection looks at."""

HIDING = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
"""Environment variables that hide devices from a process that has no use for them."""

FILES = tuple(dict.fromkeys(name for vendor in KNOWN for name in vendor.files))
"""Files whose existence is a sign."""


@dataclass(frozen=True)
class Claim:
    """A vendor's claim to the machine: the torch device type that it answers to, and the sign, in words."""

    vendor: str
    device: str
    sign: str


def claims_of(probe: Probe, chosen: str | None = None) -> list[Claim]:
    """Return the claims to the machine; that of ``chosen`` alone if it is named and shows its sign.

    What answers to ``torch.cuda`` and shows the sign of nobody else is NVIDIA if its device says so. Under a vendor's
    migration shim ``torch.cuda`` is a mask of that vendor's own device, and makes no claim.
    """
    claims = [Claim(vendor.name, vendor.kind, sign) for vendor in KNOWN if (sign := _sign(vendor, probe))]
    if chosen in {claim.vendor for claim in claims}:
        return [claim for claim in claims if claim.vendor == chosen]
    if len(claims) > 1:
        claims = [claim for claim in claims if claim.vendor != "nvidia"]
    return claims


def idle_modules(probe: Probe) -> list[tuple[str, str]]:
    """Return (vendor, why it makes no claim) for each vendor whose extension is installed without a device."""
    return [
        (vendor.name, f"{vendor.extension} is installed, but {_why_idle(probe, vendor.kind)}")
        for vendor in KNOWN
        if vendor.extension in probe.modules and vendor.kind not in probe.available
    ]


def _why_idle(probe: Probe, kind: str) -> str:
    return f"torch.{kind}: {probe.errors[kind]}" if kind in probe.errors else f"torch.{kind} is not available"


def _sign(vendor: Vendor, probe: Probe) -> str:
    return vendor.sign(probe) if vendor.kind in probe.available else ""
