"""False alarms: how many cases of correct kernels there are in bundles, and how many of them were refused."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from reports.bundle import read
from reports.record import outcome


@dataclass(frozen=True)
class Alarms:
    """Cases of correct kernels that were judged, and those that were refused: ``id@platform``, a blank, the case."""

    judged: int = 0
    refused: tuple[str, ...] = ()

    def __add__(self, other: Alarms) -> Alarms:
        return Alarms(self.judged + other.judged, tuple(dict.fromkeys((*self.refused, *other.refused))))


def alarms(bundle: Path, wrong: Container[str]) -> Alarms:
    """Return what a bundle says of all kernels but those that are ``wrong``. Raises BundleError if it is none."""
    judged, refused = 0, []
    for record in read(bundle).records:
        result = outcome(record)
        if record.implementation not in wrong and result != "none":
            judged += 1
            refused += [f"{record.implementation}@{record.platform} {record.case}"] if result == "fail" else []
    return Alarms(judged, tuple(dict.fromkeys(refused)))
