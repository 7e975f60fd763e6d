"""Who computes the same as whom, and why the others do not, in writing: from bundles of runs of agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from reports.agreement import named
from reports.bundle import read
from reports.differences import Difference, Group, differences
from reports.ink import figure, plain
from suites.tables.markdown import document, table

UNKNOWN = "unexplained"
APART = "held against the first group in no run"


def explained_differences(bundles: Sequence[Path]) -> str:
    """Return the document of what the runs of ``bundles`` found; raises BundleError."""
    contents = [read(bundle) for bundle in bundles]
    found = differences((bundle.environment, bundle.records) for bundle in contents)
    machines = dict.fromkeys(_machine(name, value) for one in contents for name, value in one.environment.items())
    apart = [group for one in found for group in one.groups[1:]]
    alone = sum(not group.causes and group.apart is None for group in apart)
    unexplained = sum(any(cause.endswith(UNKNOWN) for cause in group.causes or (UNKNOWN,)) for group in apart) - alone
    explained = sum(any("->" in cause for cause in group.causes) for group in apart)
    return document(
        "Differences",
        "For each operation, which implementations on which platforms are bit for bit the same (=) on shared cases, the"
        " largest group first; how far a group is from golden at most, as a share of its bound, and from the first"
        " group as a share of both bounds together; and what makes it differ: a cause that explains the output, with"
        " the error before and after (`docs/causes.md`), a precision that is declared or a property that was measured,"
        " or what an experiment on whole numbers shows. Made by `python -m suites.tables differences --bundle DIR`,"
        " from runs of `python -m pytest --hypothesis-profile smoke --bundle DIR suites/test_agreement.py`.",
        f"Machines: {'; '.join(filter(None, machines))}.{''.join(_without(found))}",
        f"{len({one.operation for one in found})} operations; of {len(found)} sets of dtypes that are alike"
        f" {sum(len(one.groups) == 1 for one in found)} are one group. Of {len(apart)} other groups {explained} have a"
        f" cause that was tried and explains them, {unexplained} are unexplained, and {alone} were held against others"
        " in no run.",
        table(["operation", "dtypes", "bit for bit the same", "error / bound", "apart", "why"], list(_rows(found))),
    )


def _without(found: Sequence[Difference]) -> Iterator[str]:
    """Yield for each platform a sentence on the operations that no run held against each other there, if any."""
    seen: dict[str, set[str]] = defaultdict(set)
    for one in found:
        for subject in (subject for group in one.groups for subject in group.subjects):
            seen[subject.partition("@")[2]].add(one.operation)
    every = {one.operation for one in found}
    for platform, operations in seen.items():
        if missing := sorted(every - operations):
            yield f" Not run on {platform}: {', '.join(missing)}."


def _rows(found: Sequence[Difference]) -> Iterator[list[str]]:
    for one in found:
        for place, group in enumerate(one.groups):
            heading = [one.operation, " ".join(one.dtypes)] if not place else ["", ""]
            why = "; ".join(plain(cause) for cause in group.causes) or _unknown(group, place)
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
