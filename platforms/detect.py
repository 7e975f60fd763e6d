"""Which platforms this machine has: a pure function of a probe, and so testable for machines that nobody has here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from platforms import bang_shim, cards, cpp, cpu, cuda_cpu, interpreter, opencl, outside
from platforms.claims import Claim, claims_of, idle_modules
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.simulated import platforms as simulated
from platforms.vendors import VENDORS

FINDERS: tuple[Callable[[Probe, Sequence[Claim]], Iterator[Platform | Absent]], ...] = (
    cpu.find,
    interpreter.find,
    cpp.find,
    cuda_cpu.find,
    bang_shim.find,
    opencl.find,
    cards.find,
    simulated.find,
)
"""One function a platform file, in the order in which platforms are listed. Simulated cards are the last."""


def vendors() -> list[str]:
    """Return the names of the vendors that there is a platform file for."""
    return [platform.vendor.name for platform in VENDORS]


class DetectionError(Exception):
    """Several vendors claim the machine. To guess would be a silent wrong report, so the message says how to choose."""


@dataclass(frozen=True)
class Detection:
    """The platforms that were found, and (name, reason) of those that were not."""

    found: list[Platform]
    absent: list[tuple[str, str]]


def sanitized(detection: Detection) -> Detection:
    """Return ``detection`` with a sanitizer on every platform; those that have none are absent."""
    results = [platform.sanitized() for platform in detection.found]
    absent = [(result.name, result.reason) for result in results if isinstance(result, Absent)]
    return Detection([one for one in results if isinstance(one, Platform)], detection.absent + absent)


def detect(probe: Probe, *, chosen: str | None = None) -> Detection:
    """Return the platforms of the machine that ``probe`` describes; asks nothing else and imports no toolchain.

    ``chosen`` names the vendor where several claim the machine; without it that raises DetectionError.
    """
    claims = claims_of(probe, chosen)
    if len(claims) > 1:
        signs = " and ".join(f"{claim.vendor} ({claim.sign})" for claim in claims)
        choices = " or ".join(f"--platform {claim.vendor}" for claim in claims)
        raise DetectionError(f"several vendors claim this machine: {signs}; choose with {choices}")
    results = [result for find in (*FINDERS, *outside.finders()) for result in find(probe, claims)]
    found = [result for result in results if isinstance(result, Platform)]
    absent = [(result.name, result.reason) for result in results if isinstance(result, Absent)]
    named = {platform.name for platform in found}
    absent += [
        (claim.vendor, f"recognised ({claim.sign}), but there is no platform file for it yet")
        for claim in claims
        if claim.vendor not in named
    ]
    return Detection(found, absent + idle_modules(probe))
