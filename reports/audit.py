"""All that there is to say of a fleet, gathered once; the documents are written from it."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass

from reports.bundle import read_heats
from reports.compare import Carried
from reports.fleet.carrying import carried
from reports.fleet.cells import FleetCell, all_cells, cells
from reports.fleet.errors import errors
from reports.fleet.loading import Fleet, RunFacts
from reports.fleet.regressions import Regression, regressions
from reports.heat import Heat
from reports.ink import plain
from reports.moving import Move, moves, of_operations
from reports.profile_differences import Comparison, compared


@dataclass(frozen=True)
class Audit:
    """What a fleet amounts to.

    ``cells`` are of the last run of each implementation on each place, ``history`` of all runs, ``errors`` how those of
    the last run are spread; ``unrun`` counts what could not be run, by reason, thing and machine; ``heats`` are of all
    runs.
    """

    runs: list[RunFacts]
    places: list[str]
    cells: list[FleetCell]
    history: list[FleetCell]
    errors: dict[tuple[str, str], tuple[int, ...]]
    carried: list[Carried]
    regressions: list[Regression]
    unrun: list[tuple[str, str, str]]
    heats: list[Heat]
    problems: list[str]

    @classmethod
    def of(cls, fleet: Fleet) -> Audit:
        """Return the audit of ``fleet``, which is not needed any more afterwards."""
        latest = cells(fleet)
        history = all_cells(fleet) if len(fleet.runs) > 1 else latest
        return cls(
            runs=list(fleet.runs),
            places=fleet.places,
            cells=latest,
            history=history,
            errors=errors(fleet),
            carried=carried(fleet),
            regressions=regressions(fleet),
            unrun=_unrun(fleet.runs),
            heats=[
                heat for folder in dict.fromkeys(run.directory for run in fleet.runs) for heat in read_heats(folder)
            ],
            problems=list(fleet.problems),
        )

    @functools.cached_property
    def profiles(self) -> Comparison:
        """Which questions on how they compute the places answer differently."""
        return compared((run.machine, run.environment) for run in self.runs)

    @property
    def implementations(self) -> list[str]:
        """The names of all implementations."""
        return sorted({cell.implementation for cell in self.cells})

    @property
    def judged(self) -> bool:
        """Whether anything passed or failed."""
        return any(cell.outcome != "none" for cell in self.cells)

    @property
    def failures(self) -> list[FleetCell]:
        """The cells that fail, the worst verdicts of many cases first."""
        return sorted((cell for cell in self.cells if cell.outcome == "fail"), key=lambda cell: -cell.failed)

    @functools.cached_property
    def moves(self) -> list[Move]:
        """Every implementation from every place to every other."""
        return list(moves(self.cells, self.carried))

    @functools.cached_property
    def operations(self) -> dict[tuple[str, str, str], tuple[str, int, int]]:
        """What :func:`reports.moving.of_operations` makes of the moves."""
        return of_operations(self.moves)

    @functools.cached_property
    def failing(self) -> Counter[str]:
        """How many records fail with each verdict."""
        total: Counter[str] = Counter()
        for cell in self.cells:
            total.update(cell.failing)
        return total


def _unrun(runs: list[RunFacts]) -> list[tuple[str, str, str]]:
    found: dict[tuple[str, str, str], None] = {}
    for run in runs:
        pairs = run.environment.get("unrun", [])
        for pair in pairs if isinstance(pairs, list) else []:
            if isinstance(pair, list) and len(pair) == 2:
                found[plain(str(pair[1])), plain(str(pair[0])), run.machine] = None
    return list(found)
