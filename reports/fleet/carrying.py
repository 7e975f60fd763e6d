"""The drift matrix: how far each implementation drifts on one place beyond another, for every pair of places.

The query does what :mod:`reports.compare` says of its figures: only cases count that both have a record of, with the
same inputs, the last record of each; errors are weighted by elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reports.compare import Carried
from reports.fleet.loading import Fleet
from reports.ink import plain
from reports.profile_differences import Apart, compared

_QUERY = """
    WITH judged AS (
        SELECT implementation, position, place, token, arg_max(struct_pack(
            digest, input_digest, elements, share, outcome,
            square := elements * rms_ulp * rms_ulp,
            bias := CASE WHEN isfinite(coalesce(bias_ulp, 0)) THEN elements * coalesce(bias_ulp, 0) END,
            reason := CASE WHEN accounted <> '' THEN accounted ELSE cause END,
            explained := starts_with(cause, 'explained')
        ), line) AS one
        FROM latest WHERE rms_ulp IS NOT NULL AND digest <> '' AND elements > 0
        GROUP BY implementation, position, place, token
    ), flat AS (SELECT implementation, position, place, token, unnest(one) FROM judged)
    SELECT a.implementation, a.place AS origin, b.place AS target,
           count(*) AS cases,
           avg(CASE WHEN a.digest = b.digest THEN 1.0 ELSE 0.0 END) AS equal,
           sum(a.square) / sum(a.elements) AS before,
           sum(b.square) / sum(b.elements) AS after,
           coalesce(sum(b.bias) / sum(b.elements) FILTER (b.bias IS NOT NULL), 0)
           - coalesce(sum(a.bias) / sum(a.elements) FILTER (a.bias IS NOT NULL), 0) AS bias,
           coalesce(max(a.share), 0) AS share_before,
           coalesce(max(b.share), 0) AS share_after,
           coalesce(list(DISTINCT b.reason) FILTER (b.reason <> ''), []) AS reasons,
           bool_or(b.outcome = 'fail' AND NOT b.explained) AS flagged
    FROM flat a JOIN flat b USING (implementation, token, input_digest)
    WHERE a.position < b.position
    GROUP BY a.implementation, a.place, b.place, a.position, b.position
    ORDER BY a.position, b.position, a.implementation
"""


def carried(fleet: Fleet) -> list[Carried]:
    """Return what became of each implementation that has records of the same cases on two places, for each two.

    The earlier place is where it comes from. Flagged rows come first, then the larger ratios. Raises BundleError for a
    profile that is not what runs write.
    """
    apart = compared((run.machine, run.environment) for run in fleet.runs).apart
    rows = (
        Carried(
            implementation=row["implementation"],
            origin=row["origin"],
            target=row["target"],
            cases=row["cases"],
            equal=row["equal"],
            rms=_ratio(row["after"], row["before"]),
            bias=row["bias"],
            shares=(row["share_before"], row["share_after"]),
            reasons=tuple(sorted(map(plain, row["reasons"]))),
            flagged=row["flagged"],
            computing=tuple(_computing(apart, row)) if row["equal"] < 1 else (),
        )
        for row in fleet.rows(_QUERY)
    )
    return sorted(rows, key=lambda row: (not row.flagged, -row.rms, row.implementation))


def _computing(apart: Iterable[Apart], row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the profiles of both places of a ``row`` say differently of its implementation."""
    for one in apart:
        asked, topic, subject = one.question
        there, here = (one.answers.get(row[place]) for place in ("origin", "target"))
        if asked == row["implementation"] and there and here and there != here:
            yield plain(f"{topic}, {subject}: {there} -> {here}")


def _ratio(after: float, before: float) -> float:
    if after == before or (math.isinf(after) and math.isinf(before)):
        return 1.0
    return math.sqrt(after / before) if before else math.inf
