"""An audit of absent hardware as a person reads it: a row for each implementation, a column for each architecture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from platforms.targets.audit import Audit, Compiled, Use
from platforms.targets.reading import COMPILES, VERDICTS, Reading, memory


def summary(audit: Audit) -> list[list[object]]:
    """Return for each architecture how many of the launches made there have each verdict, and what else is seen."""
    rows: list[list[object]] = []
    for target in audit.targets:
        own = {one.key for one in audit.uses if target in one.targets}
        others = set(audit.compiled) - own
        readings = _readings(audit, own, target)
        verdicts = Counter(one.verdict for one in readings)
        elsewhere = Counter(one.verdict for one in _readings(audit, others, target))
        rows.append(
            [
                target,
                *(verdicts[word] for word in VERDICTS),
                sum(bool(one.spills) for one in readings),
                sum(bool(one.dots and one.matrix) for one in readings),
                sum(one.dots and not one.matrix and one.verdict == COMPILES for one in readings),
                f"{len(others) - elsewhere[COMPILES]} of {len(others)}",
            ]
        )
    return rows


HEADINGS = ("target", *VERDICTS, "spills", "matrix units", "FMA instead", "chosen elsewhere: not here")
"""Of :func:`summary`."""


def cells(audit: Audit) -> Iterator[list[str]]:
    """Yield implementation, dtype, and for each architecture what became of the launches that are made there."""
    uses: dict[tuple[str, str], list[Use]] = {}
    for one in audit.uses:
        uses.setdefault((one.implementation, one.dtype), []).append(one)
    for (implementation, dtype), some in uses.items():
        row = []
        for target in audit.targets:
            keys = [one.key for one in some if target in one.targets]
            row.append(_cell(_readings(audit, keys, target)))
        yield [implementation, dtype, *row]


def remarks(audit: Audit) -> Iterator[str]:
    """Yield what is to be said of single configurations: where shared memory lacks, what fails and what spills."""
    users = {one.key: f"{one.implementation} {one.dtype}" for one in reversed(audit.uses)}
    for key, one in audit.compiled.items():
        readings = list(one.readings.values())
        title = f"{users[key]}: {one.kernel} {one.configuration}"
        said = [memory(readings)] if memory(readings) else []
        said += _grouped(readings)
        yield from (f"{title}: {line}" for line in said)


def _grouped(readings: Iterable[Reading]) -> Iterator[str]:
    """Yield each finding with the architectures that have it; of register spills each has its own number."""
    places: dict[str, list[str]] = {}
    for one in readings:
        for finding in one.findings:
            if "shared memory" not in finding:
                places.setdefault(finding, []).append(one.target)
    yield from (f"{finding} on {', '.join(targets)}" for finding, targets in places.items())


def _readings(audit: Audit, keys: Iterable[str], target: str) -> list[Reading]:
    made: list[Compiled] = [audit.compiled[key] for key in keys]
    return [one.readings[target] for one in made if target in one.readings]


def _cell(readings: list[Reading]) -> str:
    if not readings:
        return "-"
    worst = max(readings, key=lambda one: VERDICTS.index(one.verdict))
    if worst.verdict != COMPILES:
        failing = sum(one.verdict == worst.verdict for one in readings)
        return worst.verdict if len(readings) == 1 else f"{worst.verdict} ({failing} of {len(readings)})"
    dots = [one for one in readings if one.dots]
    units = dict.fromkeys(name for one in dots for name in one.matrix or ("FMA",))
    spills = max(one.spills or 0 for one in readings)
    return " ".join(["+".join(units) or "yes", *([f"{spills} spills"] if spills else [])])
