"""Devices whose compilers are not here: what a launch may take there, held against what other compilers made of it.

Threads follow from the warps that a launch asks for; what it takes of on-chip memory is what the compiler of a related
architecture takes, so that it may be otherwise there. Figures are from documents and from what others found; none was
seen on a card: a row is to be corrected at the first contact with one.

Sources: FlagGems, ``src/flag_gems/utils/codegen_config_utils.py`` and ``runtime/backend``; FlagSparse, its notes on
MACA and DCU; FlagTree, ``third_party/*/backend/compiler.py``; Triton-Ascend, migration guide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from platforms.targets.audit import Audit, Use
from platforms.targets.reading import Reading


@dataclass(frozen=True)
class Device:
    """What a launch may take there; None is what nobody knows.

    Attributes:
        name: vendor and model.
        like: the architecture whose compiler stands in for its own.
        lanes: threads of a warp, or None where there are no threads.
        threads: of a block.
        shared: bytes of on-chip memory of a block.
        programs: of a launch, over all axes together.
    """

    name: str
    like: str
    lanes: int | None = None
    threads: int | None = None
    shared: int | None = None
    programs: int | None = None


DEVICES = (
    Device("MetaX C550", "sm_80", lanes=64, threads=512, shared=65536),
    Device("Hygon DCU", "gfx90a", lanes=64, threads=512, shared=65536),
    Device("Iluvatar BI-V150", "sm_80", lanes=64, threads=512),
    Device("Moore Threads S5000", "sm_80", lanes=32, threads=1024),
    Device("Ascend 910B", "sm_80", programs=65535),
)
"""What is known of them; of others not even that."""


def obstacles(device: Device, reading: Reading, programs: int | None = None) -> Iterator[str]:
    """Yield why a launch would not fit ``device``, such as "1024 threads, limit 512".

    ``reading`` is that of the architecture it is like, and ``programs`` how many are launched, where that is known.
    """
    warps = (reading.threads or 0) // (reading.lanes or 1)
    for taken, what, limit in (
        (warps * (device.lanes or 0), "threads", device.threads),
        (reading.shared or 0, "bytes of on-chip memory", device.shared),
        (programs or 0, "programs", device.programs),
    ):
        if limit is not None and taken > limit:
            yield f"{taken} {what}, limit {limit}"


def checked(audit: Audit, device: Device) -> Iterator[tuple[Use, tuple[str, ...]]]:
    """Yield what is launched where ``device`` is like, each with why it would not fit; empty where it would."""
    for use in audit.uses:
        reading = audit.compiled[use.key].readings.get(device.like)
        if device.like in use.targets and reading and not (reading.error or reading.unfinished):
            yield use, tuple(obstacles(device, reading, use.programs))


def misfits(audit: Audit, device: Device) -> Iterator[str]:
    """Yield a sentence for each kernel that would not fit ``device``: in some of its configurations, or in none."""
    found: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for use, why in checked(audit, device):
        found.setdefault((use.implementation, use.dtype, audit.compiled[use.key].kernel), []).append(why)
    for (implementation, dtype, kernel), several in found.items():
        bad = [why for why in several if why]
        if bad:
            reasons = "; ".join(dict.fromkeys(reason for why in bad for reason in why))
            left = "" if len(several) == 1 else _left(len(several) - len(bad), len(several))
            yield f"{implementation} {dtype}: {kernel} would not fit {device.name}: {reasons}{left}"


def _left(fitting: int, number: int) -> str:
    return f"; {fitting} of {number} configurations remain" if fitting else f"; none of {number} configurations remains"
