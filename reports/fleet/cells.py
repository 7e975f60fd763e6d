"""What came of each implementation on each place in its last run: the verdict, the figures, a case that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reports.failures import command
from reports.fleet.loading import Fleet
from reports.ink import plain
from reports.record import VERDICTS


@dataclass(frozen=True)
class FleetCell:
    """One implementation on one place.

    ``outcome`` is "fail" if anything failed, else "pass" if anything passed, else "none"; ``verdict`` the worst of that
    outcome, ``share`` the largest error as a share of the bound among what passes (what fails, for a failing one), and
    ``seconds`` the median time of a call. ``case``, ``message``, ``cause`` and ``replay`` are those of the last record
    with the worst verdict, which a search ends on; ``reasons`` what accounts for drifts.
    """

    implementation: str
    operation: str
    place: str
    run: int
    outcome: str
    verdict: str
    passed: int
    failed: int
    neither: int
    share: float | None
    seconds: float | None
    case: str
    message: str
    cause: str
    reasons: tuple[str, ...]
    failing: dict[str, int]
    replay: str

    @property
    def ran(self) -> int:
        """How many records there are."""
        return self.passed + self.failed + self.neither


_QUERY = """
    WITH counted AS (
        SELECT implementation, operation, place, position, run,
               count(*) FILTER (outcome = 'pass') AS passed,
               count(*) FILTER (outcome = 'fail') AS failed,
               count(*) FILTER (outcome = 'none') AS neither,
               max(share) FILTER (outcome = 'pass') AS share,
               max(share) FILTER (outcome = 'fail') AS failing_share,
               median(seconds) AS seconds,
               list(DISTINCT accounted) FILTER (accounted <> '') AS reasons,
               histogram(verdict) FILTER (outcome = 'fail') AS failing,
               arg_max(struct_pack(verdict, "case" := "case", message, cause, platform),
                       {'group': CASE outcome WHEN 'fail' THEN 2 WHEN 'pass' THEN 1 ELSE 0 END,
                        'rank': rank, 'line': line}) AS worst
        FROM {source} GROUP BY implementation, operation, place, position, run
    )
    SELECT * FROM counted ORDER BY implementation, position, run
"""


def cells(fleet: Fleet) -> list[FleetCell]:
    """Return what came of each implementation on each place in the last run that has it there."""
    return list(_cells(fleet, "latest"))


def all_cells(fleet: Fleet) -> list[FleetCell]:
    """Return the same for every run there is: the history."""
    return list(_cells(fleet, "records"))


def _cells(fleet: Fleet, source: str) -> Iterable[FleetCell]:
    for row in fleet.rows(_QUERY.replace("{source}", source)):
        yield _cell(fleet, row)


def _cell(fleet: Fleet, row: dict[str, Any]) -> FleetCell:
    worst = row["worst"]
    outcome = "fail" if row["failed"] else "pass" if row["passed"] else "none"
    replay = command(worst["case"], row["implementation"], worst["platform"], fleet.run_of(row["run"]).replay)
    return FleetCell(
        **{name: row[name] for name in ("implementation", "operation", "place", "run", "passed", "failed", "neither")},
        outcome=outcome,
        verdict=worst["verdict"],
        share=row["failing_share"] if outcome == "fail" else row["share"],
        seconds=row["seconds"],
        case=worst["case"],
        message=plain(worst["message"]),
        cause=plain(worst["cause"]),
        reasons=tuple(sorted(map(plain, row["reasons"] or ()))),
        failing={verdict: row["failing"][verdict] for verdict in VERDICTS if verdict in (row["failing"] or {})},
        replay=replay,
    )
