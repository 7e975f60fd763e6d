"""Who computes the same as whom, and how far the others are: for every operation, from what runs of agreement left.

Within one bundle the groups are those that the suite found. Bundles of several machines can be put together, since the
cases are the same everywhere: subjects of two bundles are bit for bit the same whose digests are, on every case that
both have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.agreement import agreements, named
from reports.record import Record, outcome

SUITE = "agreement"
"""The suite whose records these are."""


@dataclass(frozen=True)
class Group:
    """Subjects, each an implementation and a platform, whose outputs are bit for bit the same, of some dtypes.

    ``share`` is their largest error as a share of the bound; ``apart`` their largest distance from the first group as a
    share of both bounds together, each None where it is not known; ``causes`` are what makes them differ from it, or
    from others where no run held them against it, or what accounts for them. ``fails`` is set if one of them does.
    """

    subjects: tuple[str, ...]
    share: float | None
    apart: float | None
    causes: tuple[str, ...]
    fails: bool


@dataclass(frozen=True)
class Difference:
    """One operation: its ``dtypes`` that have the same groups, and those, the largest first."""

    operation: str
    dtypes: tuple[str, ...]
    groups: tuple[Group, ...]


@dataclass
class _Found:
    """What was found of one operation and dtype: records by subject and case, groups by bundle, and pairs."""

    records: dict[str, dict[tuple[str, str], Record]] = field(default_factory=lambda: defaultdict(dict))
    groups: list[list[list[str]]] = field(default_factory=list)
    pairs: list[Mapping[str, Any]] = field(default_factory=list)

    def equal(self, one: str, other: str) -> bool:
        """Whether two subjects are of one group, or have the same digests where no bundle has both."""
        for groups in self.groups:
            homes = [next((place for place, group in enumerate(groups) if it in group), None) for it in (one, other)]
            if None not in homes:
                return homes[0] == homes[1]
        mine, theirs = self.records[one], self.records[other]
        shared = mine.keys() & theirs.keys()
        return bool(shared) and all(mine[case].digest == theirs[case].digest for case in shared)

    def together(self) -> list[Group]:
        """Return the groups of all bundles, the largest first."""
        merged: list[list[str]] = []
        for subject in dict.fromkeys(one for groups in self.groups for group in groups for one in group):
            home = next((group for group in merged if self.equal(group[0], subject)), None)
            if home is None:
                merged.append([subject])
            else:
                home.append(subject)
        merged.sort(key=lambda group: (-len(group), group))
        return [self._group(group, merged[0]) for group in merged]

    def _group(self, group: Sequence[str], first: Sequence[str]) -> Group:
        own = [record for subject in group for record in self.records[subject].values()]
        pairs = [pair for pair in self.pairs if _between(pair, group, first)] if group is not first else []
        causes = dict.fromkeys(pair["cause"] for pair in pairs if pair["cause"])
        if not pairs and group is not first:
            causes = dict.fromkeys(self._beside(group))
        if pairs and not causes and all(pair["open"] == pair["differing"] for pair in pairs):
            causes = {"only what the contract leaves open": None}
        return Group(
            tuple(group),
            max((record.share for record in own if record.share is not None), default=None),
            max((pair["share"] for pair in pairs), default=None),
            tuple(causes or dict.fromkeys(record.accounted for record in own if record.accounted)),
            any(outcome(record) == "fail" for record in own),
        )

    def _beside(self, group: Sequence[str]) -> Iterator[str]:
        """Yield what makes a group differ from others than the first, which no run held it against."""
        for pair in self.pairs:
            others = [pair[end] for end in ("one", "other") if pair[end] not in group]
            if len(others) == 1 and pair["cause"]:
                yield f"beside {named(others)}: {pair['cause']}"


def differences(bundles: Iterable[tuple[Mapping[str, Any], Iterable[Record]]]) -> list[Difference]:
    """Return the groups of each operation in bundles, given as environments and records; raises BundleError."""
    found: dict[tuple[str, str], _Found] = defaultdict(_Found)
    for environment, records in bundles:
        for operation, several in agreements(environment):
            for agreement in several:
                mine = found[operation, agreement["dtype"]]
                mine.groups.append(agreement["groups"])
                mine.pairs += agreement["pairs"]
        for record in records:
            if record.suite == SUITE and record.digest:
                subject = f"{record.implementation}@{record.platform}"
                found[record.operation, record.dtype].records[subject][record.case, record.input_digest] = record
    alike: dict[tuple[str, frozenset[frozenset[str]]], list[tuple[str, list[Group]]]] = defaultdict(list)
    for (operation, dtype), one in sorted(found.items()):
        if groups := one.together():
            alike[operation, frozenset(frozenset(group.subjects) for group in groups)].append((dtype, groups))
    return [
        Difference(operation, tuple(dtype for dtype, _ in several), tuple(_merged([groups for _, groups in several])))
        for (operation, _), several in alike.items()
    ]


def _between(pair: Mapping[str, Any], group: Sequence[str], first: Sequence[str]) -> bool:
    return (pair["one"] in group and pair["other"] in first) or (pair["one"] in first and pair["other"] in group)


def _merged(several: Sequence[Sequence[Group]]) -> Iterator[Group]:
    """Yield the groups of several dtypes, which have the same subjects, each with the largest of its figures."""
    for first in several[0]:
        alike = [group for groups in several for group in groups if set(group.subjects) == set(first.subjects)]
        yield Group(
            first.subjects,
            max((one.share for one in alike if one.share is not None), default=None),
            max((one.apart for one in alike if one.apart is not None), default=None),
            tuple(dict.fromkeys(cause for one in alike for cause in one.causes)),
            any(one.fails for one in alike),
        )
