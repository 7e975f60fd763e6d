"""The cards of vendors that a machine has: the platform of whoever claims it, and why NVIDIA's is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from platforms.claims import Claim
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.vendor import device_name
from platforms.vendors import VENDORS

_MOST_EXPECTED = "nvidia"
"""The vendor of which everybody wants to know why its platform is not here."""


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield the platforms of the vendors that claim the machine."""
    owners = {claim.vendor for claim in claims}
    for platform in VENDORS:
        if platform.vendor.name in owners:
            yield platform.of(probe)
        elif platform.vendor.name == _MOST_EXPECTED:
            yield Absent(_MOST_EXPECTED, _why_not(probe, claims))


def _why_not(probe: Probe, claims: Sequence[Claim]) -> str:
    masks = [claim for claim in claims if claim.device == "cuda"]
    if masks:
        return f"torch.cuda answers for {masks[0].vendor} here: {masks[0].sign}"
    if not probe.torch_version:
        return probe.why_no_torch
    if "cuda" in probe.errors:
        return f"torch.cuda: {probe.errors['cuda']}"
    if "cuda" not in probe.available:
        return f"torch {probe.torch_version} was built without CUDA"
    name = device_name(probe)
    return f"torch.cuda is there, but its device calls itself {name!r}, and no known vendor shows a sign of itself"
