"""Who computes the same as whom, and why the others do not, in writing: from bundles of runs of agreement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from reports.agreement import named
from reports.bundle import read
from reports.differences import Difference, Group, differences
from reports.ink import figure, plain
from suites.tables.markdown import EMPTY, Page, document, table

UNKNOWN = "unexplained"
APART = "held against the first group in no run"
_MACHINES = re.compile(r"[^;.(]+\([^)]*\)")


HEADERS = ("operation", "dtypes", "bit for bit the same", "error / bound", "apart", "why")

Row = list[str]


def explained_differences(bundles: Sequence[Path], page: Page = EMPTY) -> str:
    """Return the document of what the runs of ``bundles`` found; raises BundleError.

    Of operations that are kept in the ``page`` as it was written, the rows stay.
    """
    contents = [read(bundle) for bundle in bundles]
    found = differences((bundle.environment, bundle.records) for bundle in contents)
    fresh = [row for one in found if one.operation not in page.kept for row in _rows(one)]
    rows = sorted([*fresh, *_kept(page)], key=lambda row: row[0])
    named = [_machine(name, value) for one in contents for name, value in one.environment.items()]
    before = _MACHINES.findall(page.text.partition("Machines: ")[2].partition("\n")[0]) if page.kept else []
    machines = dict.fromkeys([*(one.strip("; ") for one in before), *named])
    apart = [row for row, above in zip(rows[1:], rows, strict=False) if row[:2] == above[:2]]
    alone = sum(row[5] == APART for row in apart)
    unexplained = sum(any(cause.endswith(UNKNOWN) for cause in row[5].split("; ")) for row in apart)
    explained = sum("->" in row[5] for row in apart)
    return document(
        "Differences",
        "For each operation, which implementations on which platforms are bit for bit the same (=) on shared cases, the"
        " largest group first; how far a group is from golden at most, as a share of its bound, and from the first"
        " group as a share of both bounds together; and what makes it differ: a cause that explains the output, with"
        " the error before and after (`docs/causes.md`), a precision that is declared or a property that was measured,"
        " or what an experiment on whole numbers shows. Made by `python -m suites.tables differences --bundle DIR`,"
        " from runs of `python -m pytest --hypothesis-profile smoke --bundle DIR suites/test_agreement.py`.",
        f"Machines: {'; '.join(filter(None, machines))}.{''.join(_without(rows))}",
        f"{len({row[0] for row in rows})} operations; of {len(rows) - len(apart)} sets of dtypes that are alike"
        f" {sum(row[:2] not in [one[:2] for one in apart] for row in rows)} are one group. Of {len(apart)} other groups"
        f" {explained} have a cause that was tried and explains them, {unexplained} are unexplained, and {alone} were"
        " held against others in no run.",
        table(HEADERS, [_headed(row, above) for row, above in zip(rows, [[""] * 6, *rows], strict=False)]),
    )


def _headed(row: Row, above: Row) -> Row:
    """Return a row without what it has in common with the one above it."""
    return ["", "", *row[2:]] if row[:2] == above[:2] else row


def _kept(page: Page) -> Iterator[Row]:
    """Yield the rows that stay of a page, each with the operation and the dtypes that it is of."""
    heading = ["", ""]
    for row in page.rows(HEADERS):
        heading = row[:2] if row[0] else heading
        if heading[0] in page.kept:
            yield [*heading, *row[2:]]


def _without(rows: Sequence[Row]) -> Iterator[str]:
    """Yield for each platform a sentence on what no run held against others there, though others of it were, if any.

    That is operations, and operations in a paradigm.
    """
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        for part in row[2].split(" = "):
            implementation, _, platform = part.partition("@")
            seen[platform, ""].add(row[0])
            seen[platform, implementation.partition("/")[0]].add(row[0])
    every = {row[0] for row in rows}
    for (platform, paradigm), operations in seen.items():
        # What a platform has not run at all is named once.
        lacking = (seen[platform, ""] if paradigm else every) - operations
        if lacking:
            yield f" Not run on {platform}{f' in {paradigm}' if paradigm else ''}: {', '.join(sorted(lacking))}."


def _rows(one: Difference) -> Iterator[Row]:
    for place, group in enumerate(one.groups):
        why = "; ".join(plain(cause) for cause in group.causes) or _unknown(group, place)
        heading = [one.operation, " ".join(one.dtypes)]
        yield [*heading, named(group.subjects), _share(group), _figure(group.apart), why]


def _unknown(group: Group, place: int) -> str:
    if not place:
        return ""
    return APART if group.apart is None else UNKNOWN


def _share(group: Group) -> str:
    return f"**{_figure(group.share)}, fails**" if group.fails else _figure(group.share)


def _figure(number: float | None) -> str:
    return "-" if number is None else figure(number)


def _machine(name: str, value: object) -> str:
    """Return what a platform's description says it is, "" for other parts of an environment."""
    if not name.startswith("platform ") or not isinstance(value, dict):
        return ""
    facts = value.get("facts", {})
    details = [str(facts.get("name", "")), *(f"{one} {facts[one]}" for one in ("torch", "triton") if one in facts)]
    return f"{name.removeprefix('platform ')} ({', '.join(filter(None, details))})"
