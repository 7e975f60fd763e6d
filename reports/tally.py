"""What the records of a run amount to, gathered in one pass and in memory that does not grow with the number of cases.

The tables and lists of a summary are all made from a tally, so any number of records can be summed up from a stream.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from reports.ink import plain
from reports.record import VERDICTS, Outcome, Record, outcome

_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}


@dataclass
class Cell:
    """What one implementation did on one platform."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    """How many records passed, failed or count as neither."""
    verdicts: dict[Outcome, str] = field(default_factory=dict)
    """The worst verdict of each outcome."""
    share: float | None = None
    """The largest error among the passing records, as a share of the drift bound."""
    failure: Record | None = None
    """The last of the failing records with the worst verdict. The last, for a shrinking search ends on its smallest."""

    @property
    def outcome(self) -> Outcome:
        """What the cell amounts to: "fail" if anything failed, else "pass" if anything passed, else "none"."""
        return "fail" if self.counts["fail"] else "pass" if self.counts["pass"] else "none"

    def add(self, record: Record) -> None:
        """Count one more record."""
        result = outcome(record)
        self.counts[result] += 1
        rank = _RANK[record.verdict]
        if rank >= _RANK[self.verdicts.get(result, VERDICTS[0])]:
            self.verdicts[result] = record.verdict
            if result == "fail":
                self.failure = record
        if result == "pass":
            self.share = _larger(self.share, record.share)


@dataclass
class Drift:
    """The drifts of one implementation on one platform that one thing accounts for."""

    count: int = 0
    share: float | None = None
    """The largest error, as a share of the drift bound."""

    def add(self, record: Record) -> None:
        """Count one more record."""
        self.count += 1
        self.share = _larger(self.share, record.share)


@dataclass
class Tally:
    """What the records of a run amount to; made by ``Tally.of``."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=lambda: defaultdict(Cell))
    """By implementation and platform."""
    verdicts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    """How many records have each verdict; a drift is there as a pass where it is accounted for, else as a failure."""
    drifts: dict[tuple[str, str, str], Drift] = field(default_factory=lambda: defaultdict(Drift))
    """The drifts accounted for, by implementation, platform and what accounts for them."""
    unrun: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """What could not be run, and how often, by reason."""
    refused: Counter[str] = field(default_factory=Counter)
    """How many bounds refused each corruption."""
    tried: Counter[str] = field(default_factory=Counter)
    """How many bounds each corruption was held against."""

    @classmethod
    def of(cls, records: Iterable[Record], unrun: Iterable[tuple[str, str]] = ()) -> Tally:
        """Return the tally of ``records``, read once, and of the pairs (thing, reason) in ``unrun``."""
        tally = cls()
        for record in records:
            tally._add(record)
        for thing, reason in unrun:
            tally._add_unrun(thing, reason)
        return tally

    @property
    def failures(self) -> list[Record]:
        """One failing record for each implementation and platform that failed: the worst verdicts first."""
        found = [cell.failure for cell in self.cells.values() if cell.failure is not None]
        return sorted(found, key=lambda record: -_RANK[record.verdict])

    def total(self, result: Outcome) -> int:
        """Return how many records have the outcome ``result``."""
        return sum(number for (_, one), number in self.verdicts.items() if one == result)

    def _add(self, record: Record) -> None:
        self.cells[record.implementation, record.platform].add(record)
        self.verdicts[record.verdict, outcome(record)] += 1
        if record.accounted:
            self.drifts[record.implementation, record.platform, plain(record.accounted)].add(record)
        if record.verdict == "unsupported":
            self._add_unrun(f"{record.implementation} on {record.platform}", record.message)
        self.refused.update(record.refused)
        self.tried.update(record.refused + record.accepted)

    def _add_unrun(self, thing: str, reason: str) -> None:
        self.unrun[plain(reason) or "no reason given"][plain(thing)] += 1


def _larger(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return second if first is None else first
    return max(first, second)
