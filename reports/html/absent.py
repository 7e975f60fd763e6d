"""What compilers made of kernels for hardware that is not here, read from the environments of runs with suspicion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reports.audit import Audit
from reports.bundle import BundleError
from reports.ink import plain
from reports.targets import KEY


@dataclass(frozen=True)
class Absent:
    """What one run compiled: by which compilers, a table, and remarks on single configurations."""

    machine: str
    compilers: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]


def absent(audit: Audit) -> Iterator[Absent]:
    """Yield what each run compiled, if anything; raises BundleError for what no run writes."""
    for run in audit.runs:
        if found := run.environment.get(KEY):
            try:
                compilers, headings, remarks = (_texts(found[name]) for name in ("compilers", "headings", "remarks"))
                rows = tuple(_texts(row) for row in found["rows"])
            except (KeyError, TypeError):
                wanted = "compilers, headings, rows and remarks, lists of texts"
                raise BundleError(f'{run.directory}: "{KEY}" must hold {wanted}') from None
            yield Absent(plain(run.machine), compilers, headings, rows, remarks)


def _texts(several: Any) -> tuple[str, ...]:
    if not isinstance(several, list):
        raise TypeError
    return tuple(plain(str(one)) for one in several)
