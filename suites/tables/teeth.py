"""The teeth, measured: for each operation and dtype the share of drawn cases that would refuse each corruption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from golden.teeth import CORRUPTIONS
from kernels.operation import Operation
from suites.drawn import drawn
from suites.goldens import Goldens
from suites.tables.markdown import EMPTY, Page, document, table

WEAK = 0.9
"""A corruption that fewer cases refuse is a weakness, to be mended or explained."""


HEADERS = ("operation", "dtype", "cases", *CORRUPTIONS, "vacuous")
WHY = ("operation", "corruption", "why")


def teeth(operations: Mapping[str, Operation], *, cases: int, budget: int, page: Page = EMPTY) -> str:
    """Return the document, from ``cases`` drawn ones for each operation and dtype; other rows are those of ``page``."""
    rows, weak = page.rows(HEADERS), []
    for operation in operations.values():
        for dtype in operation.dtypes:
            refused, tried, vacuous = _counted(operation, dtype, cases, budget)
            shares = {name: refused[name] / tried[name] for name in CORRUPTIONS if tried[name]}
            found = [_share(shares.get(name)) for name in CORRUPTIONS]
            rows.append([operation.name, dtype, str(cases), *found, str(vacuous or "")])
            weak += [(operation, name) for name, share in shares.items() if share < WEAK]
    why = sorted([*page.rows(WHY), *_explained(weak)])
    rows.sort(key=lambda row: row[0])
    return document(
        "Teeth",
        "A check is worth what it can refuse. Of so many drawn cases for each operation and dtype, the share whose "
        "bound refuses each corruption of the golden result (of the cases in which it changes any bit), and how many "
        "cases refuse none, which never count as passes. Made by `python -m suites.tables teeth`.",
        table(HEADERS, rows),
        "## Below 90 %, and why",
        table(WHY, why) if why else "None.",
    )


def _counted(operation: Operation, dtype: str, cases: int, budget: int) -> tuple[Counter[str], Counter[str], int]:
    goldens, refused, tried, vacuous = Goldens(), Counter[str](), Counter[str](), 0
    for case in drawn(operation, cases, budget=budget, dtype=dtype):
        found = goldens.of(operation, case).teeth
        refused.update(found.refused)
        tried.update(found.refused + found.accepted)
        vacuous += found.vacuous
    return refused, tried, vacuous


def _share(share: float | None) -> str:
    if share is None:
        return "-"
    return f"**{share:.0%}**" if share < WEAK else f"{share:.0%}"


def _explained(weak: list[tuple[Operation, str]]) -> Iterator[list[str]]:
    for operation, name in dict.fromkeys(weak):
        yield [operation.name, name, operation.toothless.get(name, "**unexplained**")]
