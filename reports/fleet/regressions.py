"""What became worse since the run before: the last run of an implementation on a place against the one before it."""

from __future__ import annotations

from dataclasses import dataclass

from reports.fleet.loading import Fleet


@dataclass(frozen=True)
class Regression:
    """One implementation on one place, in its last run and the one before.

    ``broken`` counts cases that passed and fail now, ``mended`` the other way round, ``changed`` those whose output has
    other bits; of ``cases`` that both runs have, with the same inputs. ``case`` is one that broke, or "".
    """

    implementation: str
    place: str
    before: str
    after: str
    cases: int
    changed: int
    broken: int
    mended: int
    case: str


_QUERY = """
    WITH judged AS (
        SELECT implementation, place, age, token, started,
               arg_max(struct_pack(digest, input_digest, outcome, "case" := "case"), line) AS one
        FROM records JOIN presence USING (implementation, place, run)
        WHERE age <= 2 AND verdict <> 'unsupported' GROUP BY ALL
    ), flat AS (SELECT implementation, place, age, token, started, unnest(one) FROM judged)
    SELECT now.implementation, now.place, past.started AS "before", now.started AS "after",
           count(*) AS cases,
           count(*) FILTER (now.digest <> past.digest) AS changed,
           count(*) FILTER (now.outcome = 'fail' AND past.outcome = 'pass') AS broken,
           count(*) FILTER (now.outcome = 'pass' AND past.outcome = 'fail') AS mended,
           coalesce(any_value(now."case") FILTER (now.outcome = 'fail' AND past.outcome = 'pass'), '') AS "case"
    FROM flat now JOIN flat past USING (implementation, place, token, input_digest)
    WHERE now.age = 1 AND past.age = 2
    GROUP BY ALL ORDER BY broken DESC, changed DESC, now.implementation, now.place
"""


def regressions(fleet: Fleet) -> list[Regression]:
    """Return what became of each implementation on each place since the run before, if any; the worst first."""
    return [Regression(**row) for row in fleet.rows(_QUERY)]
