"""The carried-over question in numbers: how far an implementation drifts on one platform beyond another.

Only cases count that both have a record of. Errors are compared where both are known, weighted by elements. What the
contract's bounds allow needs no reason; beyond them a drift is flagged unless something accounts for it or explains it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.ink import counted, figure, plain
from reports.record import Record, outcome

_SHOWN = 30

Place = tuple[str, str]
"""An implementation and a platform."""


@dataclass(frozen=True)
class Carried:
    """What became of one implementation, carried from one platform to another.

    ``cases`` are those that both have figures of, ``equal`` the share of them whose outputs are bit for bit the same;
    ``rms`` is the ratio of the root mean square errors, ``bias`` the difference of the mean errors in ULP; ``shares``
    the worst shares of the bound, there and here. ``reasons`` are what accounts for drifts or explains them.
    """

    implementation: str
    origin: str
    target: str
    cases: int
    equal: float
    rms: float
    bias: float
    shares: tuple[float, float]
    reasons: tuple[str, ...]
    flagged: bool


def carried(origin: Iterable[Record], target: Iterable[Record]) -> list[Carried]:
    """Return what became of each implementation that has records of the same cases on two platforms.

    ``origin`` and ``target`` may be the same records, of several platforms. Flagged rows come first, then the larger
    ratios.
    """
    there, here = _by_place(origin), _by_place(target)
    pairs = ((one, other) for one in there for other in here if one[0] == other[0] and one[1] != other[1])
    several = _once(pairs) if there == here else pairs
    rows = (_carried(one, other, there[one], here[other]) for one, other in several)
    return sorted(filter(None, rows), key=lambda row: (not row.flagged, -row.rms, row.implementation))


def _by_place(records: Iterable[Record]) -> dict[Place, dict[str, Record]]:
    """Return records that have figures, by implementation and platform, and then by case; the last of each counts."""
    places: dict[Place, dict[str, Record]] = defaultdict(dict)
    for record in records:
        if record.rms_ulp is not None and record.digest:
            places[record.implementation, record.platform][record.case] = record
    return dict(places)


def _once(pairs: Iterable[tuple[Place, Place]]) -> Iterator[tuple[Place, Place]]:
    """Yield of two platforms of one run each pair once, from the first to the second."""
    seen = set[frozenset[Place]]()
    for one, other in pairs:
        if frozenset((one, other)) not in seen:
            seen.add(frozenset((one, other)))
            yield one, other


def _carried(one: Place, other: Place, there: dict[str, Record], here: dict[str, Record]) -> Carried | None:
    pairs = [(there[case], here[case]) for case in there.keys() & here.keys()]
    pairs = [(a, b) for a, b in pairs if a.input_digest == b.input_digest and a.elements]
    if not pairs:
        return None
    before, after = zip(*pairs, strict=True)
    fails = [record for record in after if outcome(record) == "fail" and not _explained(record)]
    known = dict.fromkeys(plain(record.accounted or record.cause) for record in after)
    return Carried(
        implementation=one[0],
        origin=one[1],
        target=other[1],
        cases=len(pairs),
        equal=sum(a.digest == b.digest for a, b in pairs) / len(pairs),
        rms=_ratio(_mean_square(after), _mean_square(before)),
        bias=_mean_bias(after) - _mean_bias(before),
        shares=(_worst(before), _worst(after)),
        reasons=tuple(filter(None, known)),
        flagged=bool(fails),
    )


def _explained(record: Record) -> bool:
    return record.cause.startswith("explained")


def _mean_square(records: Iterable[Record]) -> float:
    squares = [(record.elements, (record.rms_ulp or 0.0) ** 2) for record in records]
    return sum(n * square for n, square in squares) / sum(n for n, _ in squares)


def _mean_bias(records: Iterable[Record]) -> float:
    finite = [(r.elements, r.bias_ulp or 0.0) for r in records if math.isfinite(r.bias_ulp or 0.0)]
    return sum(n * bias for n, bias in finite) / max(sum(n for n, _ in finite), 1)


def _ratio(after: float, before: float) -> float:
    if after == before or (math.isinf(after) and math.isinf(before)):
        return 1.0
    return math.sqrt(after / before) if before else math.inf


def _worst(records: Iterable[Record]) -> float:
    return max((record.share or 0.0 for record in records), default=0.0)


def render(rows: list[Carried], *, full: bool = False) -> str:
    """Return the table, and a line that sums it up; cut to a screenful unless ``full``."""
    if not rows:
        return "no implementation has records of the same cases on two platforms"
    shown = rows if full else rows[:_SHOWN]
    headings = ["implementation", "from", "to", "cases", "equal", "RMS ratio", "bias, ULP", "error / bound", "reason"]
    body = [
        [
            row.implementation,
            row.origin,
            row.target,
            row.cases,
            f"{math.floor(100 * row.equal)} %",
            figure(row.rms),
            f"{row.bias:+.2g}",
            f"{figure(row.shares[0])} -> {figure(row.shares[1])}",
            "FLAGGED: unexplained" if row.flagged else "; ".join(row.reasons)[:60],
        ]
        for row in shown
    ]
    lines = [tabulate(body, headings, disable_numparse=True)]
    if len(shown) < len(rows):
        lines.append(f"and {len(rows) - len(shown)} more with smaller ratios; --full shows them")
    flagged = sum(row.flagged for row in rows)
    same = sum(row.equal == 1 for row in rows)
    said = f"{flagged} flagged, {same} bit for bit the same"
    return "\n".join([*lines, "", f"{counted(len(rows), 'implementation')} carried over: {said}"])
