"""The matrix of detection: every fingerprint and trap that tests write by hand, and what is answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from platforms.detect import DetectionError, detect
from platforms.probe import Probe
from platforms.vendors import VENDORS
from suites.meta.fingerprints import FINGERPRINTS, TRAPS, Machine
from suites.tables.markdown import document, table

_PLAIN = re.compile(r"\+(cpu|cu\d+)$")
"""How PyTorch's own builds are called."""

_NAMES = {one.vendor.name for one in VENDORS}


def detection() -> str:
    """Return the document."""
    return document(
        "Detection",
        "Whose machine is this? A pure function of a probe says so (`platforms/detect.py`): here of probes that are "
        "written by hand, in `suites/meta/fingerprints.py`, after what [vendors](vendors.md) names as signs. **No card "
        "but NVIDIA's was met.** The probe itself imports no vendor's module, runs in a process of its own, and comes "
        "back whatever a driver does: hangs, crashes, ends the process or prints (`suites/meta/test_detect.py`). "
        "Made by `python -m suites.tables detection`.",
        f"{len(FINGERPRINTS)} fingerprints and {len(TRAPS)} traps.",
        "## Fingerprints",
        _matrix(FINGERPRINTS),
        "## Traps",
        _matrix(TRAPS),
    )


def answered(one: Machine) -> tuple[str, str]:
    """Return whose card runs on a machine, "" for nobody's, and what is told of the platforms that are looked for."""
    try:
        found = detect(one.probe, chosen=one.chosen)
    except DetectionError as error:
        return "", str(error)
    here = [platform.name for platform in found.found if platform.name in _NAMES and not platform.on_request]
    absent = dict(found.absent)
    return ", ".join(here), "; ".join(f"{name}: {absent.get(name, '')}" for name in one.said)


def _matrix(machines: Mapping[str, Machine]) -> str:
    rows = []
    for title, one in machines.items():
        vendor, said = answered(one)
        answer = f"**{vendor}**" if vendor else "an error" if one.refused else "no card's platform"
        rows.append([title, "; ".join(_shown(one.probe)), (one.chosen and f"`{one.chosen}`") or "", answer, said])
    return table(["machine", "what it shows", "`--platform`", "answer", "and says"], rows)


def _shown(probe: Probe) -> Iterator[str]:
    if not probe.torch_version:
        yield "no torch"
    for kind in probe.available:
        names = dict.fromkeys(f"{one.name!r} {one.arch}".strip() for one in probe.devices_of(kind) if one.name)
        yield f"torch.{kind}{' of ' + ', '.join(names) if names else ''}"
    yield from (f"torch.version.{name} {value!r}" for name, value in probe.version.items())
    builds = dict.fromkeys((probe.torch_version, probe.torch_distribution))
    yield from (f"build {one}" for one in builds if one and not _PLAIN.search(one))
    yield from (f"torch.{name}" for name in probe.attributes)
    yield from (f"module {name}" for name in probe.modules)
    yield from (f"{name}={value}" for name, value in probe.env.items())
    yield from probe.files
    yield from (f"{step}: {error}" for step, error in probe.errors.items())
