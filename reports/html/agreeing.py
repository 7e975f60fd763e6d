"""Which implementations gave the same bits on each machine, for the HTML document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reports.agreement import PREFIX, agreements
from reports.audit import Audit
from reports.differences import Difference, differences
from reports.ink import plain


@dataclass(frozen=True)
class Agreeing:
    """The groups of equal outputs on one machine, by operation."""

    machine: str
    differences: tuple[Difference, ...]


def agreeing(audit: Audit) -> Iterator[Agreeing]:
    """Yield the groups of each machine, of operations and platforms those of the last run; raises BundleError."""
    latest: dict[str, dict[tuple[str, frozenset[str]], list[dict[str, Any]]]] = {}
    for run in sorted(audit.runs, key=lambda run: run.started):
        for operation, found in agreements(run.environment):
            subjects = (subject for one in found for group in one["groups"] for subject in group)
            platforms = frozenset(subject.partition("@")[2] for subject in subjects)
            latest.setdefault(plain(run.machine), {})[operation, platforms] = found
    for machine, several in latest.items():
        runs = [({f"{PREFIX}{operation}": found}, ()) for (operation, _), found in several.items()]
        yield Agreeing(machine, tuple(differences(runs)))
