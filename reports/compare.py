"""The carried-over question in numbers: how far an implementation drifts on one platform beyond another.

Only cases count that both have a record of. Errors are compared where both are known, weighted by elements. What the
contract's bounds allow needs no reason; beyond them a drift is flagged unless something accounts for it or explains it.
So is, within them, an RMS error or a bias that in half of the cases that differ is more times as large as there than
the profiles of both explain (:mod:`reports.allowance`), unless something accounts for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.ink import clip, counted, figure

_SHOWN = 30
_LONGEST = 60


@dataclass(frozen=True)
class Carried:
    """What became of one implementation, carried from one platform to another.

    ``cases`` are those that both have figures of, ``equal`` the share of them whose outputs are bit for bit the same;
    ``rms`` is the ratio of the root mean square errors, ``bias`` the difference of the mean errors in ULP; ``shares``
    the worst shares of the bound, there and here. ``reasons`` are what accounts for drifts or explains them, and
    ``computing`` what the profiles of both say differently of this implementation, where its outputs differ. It
    ``fails`` if a drift beyond the bounds is unexplained; ``allowed`` is how many times as large an error the profiles
    explain, None where they say nothing of it, and ``beyond`` what is larger.
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
    fails: bool
    computing: tuple[str, ...] = ()
    allowed: float | None = None
    beyond: tuple[str, ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether there is a drift that nothing explains."""
        return self.fails or bool(self.beyond)

    @property
    def why(self) -> str:
        """What there is to say of a difference: that nothing explains it, or what does, and how the places compute."""
        said = ["unexplained"] if self.fails else list(self.beyond or self.reasons)
        return "; ".join([*said, *(f"profiles: {one}" for one in self.computing)])


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
            f"FLAGGED: {row.why}" if row.flagged else clip(row.why, _LONGEST),
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
