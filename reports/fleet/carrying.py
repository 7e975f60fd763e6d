"""The drift matrix: how far each implementation drifts on one place beyond another, for every pair of places.

The query does what :mod:`reports.compare` says of its figures: only cases count that both have a record of, with the
same inputs, the last record of each; errors are weighted by elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reports.allowance import ROUNDED, allowance
from reports.compare import Carried
from reports.fleet.loading import Fleet
from reports.ink import figure, plain
from reports.profile_differences import Apart, Comparison, compared

_QUERY = """
    WITH judged AS (
        SELECT implementation, position, place, token, arg_max(struct_pack(
            digest, input_digest, elements, share, outcome,
            terms := list_max(CAST(
                regexp_extract_all(regexp_extract("case", '"dims":[{][^}]*[}]'), '[0-9]+') AS DOUBLE[]
            )),
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
           coalesce(max(b.terms), 1) AS terms,
           median(greatest(sqrt(b.square / b.elements), $rounded) / greatest(sqrt(a.square / a.elements), $rounded))
           FILTER (a.digest <> b.digest AND isfinite(a.square)) AS typical,
           median(a.bias / a.elements) FILTER (a.digest <> b.digest) AS bias_before,
           median(b.bias / b.elements) FILTER (a.digest <> b.digest) AS bias_after,
           coalesce(max(a.share), 0) AS share_before,
           coalesce(max(b.share), 0) AS share_after,
           coalesce(list(DISTINCT b.reason) FILTER (b.reason <> ''), []) AS reasons,
           bool_or(b.outcome = 'fail' AND NOT b.explained) AS fails
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
    profiles = compared((run.machine, run.environment) for run in fleet.runs)
    return sorted(
        (_carried(row, profiles) for row in fleet.rows(_QUERY, {"rounded": ROUNDED})),
        key=lambda row: (not row.flagged, -row.rms, row.implementation),
    )


def _carried(row: Mapping[str, Any], profiles: Comparison) -> Carried:
    there, here = (profiles.answers.get(row[place], ()) for place in ("origin", "target"))
    allowed = allowance(there, here, row["implementation"], row["terms"])
    reasons = tuple(sorted(map(plain, row["reasons"])))
    return Carried(
        implementation=row["implementation"],
        origin=row["origin"],
        target=row["target"],
        cases=row["cases"],
        equal=row["equal"],
        rms=_ratio(row["after"], row["before"]),
        bias=row["bias"],
        shares=(row["share_before"], row["share_after"]),
        reasons=reasons,
        fails=row["fails"],
        computing=tuple(_computing(profiles.apart, row)) if row["equal"] < 1 else (),
        allowed=allowed,
        beyond=() if allowed is None or reasons else tuple(_beyond(row, allowed)),
    )


def _beyond(row: Mapping[str, Any], allowed: float) -> Iterator[str]:
    """Yield in words what of the cases that differ is more than ``allowed`` times as large here as there: the median.

    A single case whose result cancels may have any error in ULP, on either place.
    """
    explained = f"profiles explain {figure(allowed)} times as much"
    if row["typical"] is not None and row["typical"] > allowed:
        yield f"RMS error {figure(row['typical'])} times as large in half of the cases that differ; {explained}"
    before, after = row["bias_before"] or 0.0, row["bias_after"] or 0.0
    if abs(after) > allowed * max(abs(before), ROUNDED):
        yield f"bias {before:+.2g} -> {after:+.2g} ULP in half of the cases that differ; {explained}"


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
