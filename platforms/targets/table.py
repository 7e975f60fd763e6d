"""An audit of absent hardware as a person reads it: a row for each implementation, a column for each architecture."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from platforms.targets.architecture import ARCHITECTURES
from platforms.targets.audit import Audit, Compiled, Use
from platforms.targets.cards import STAND_IN, absent, checked, misfits
from platforms.targets.contrast import told
from platforms.targets.reading import COMPILES, VERDICTS, Reading, memory

_ROWS = 25


def text(audit: Audit, *, full: bool = False) -> str:
    """Return the audit in a screenful, or all of it."""
    rows = list(cells(audit))
    parts = [tabulate(summary(audit), HEADINGS), tabulate(elsewhere(audit), ELSEWHERE)]
    if full or len(rows) <= _ROWS:
        parts.insert(0, tabulate(rows, ["implementation", "dtype", *audit.targets], disable_numparse=True))
    parts += ["\n".join(shortened(findings(audit), full=full))]
    parts += ["\n".join(shortened(f"not known: {what}: {why}" for what, why in audit.unaudited.items()))]
    return "\n\n".join(filter(None, parts))


def findings(audit: Audit) -> Iterator[str]:
    """Yield what would not fit devices whose compilers are not here, and all that is to be said of configurations."""
    for name, card in absent():
        yield from misfits(audit, name, card)
    yield from remarks(audit)


def shortened(lines: Iterable[str], *, full: bool = False) -> Iterator[str]:
    """Yield what is said, in lines of a terminal's width, cut to a screenful of them."""
    said = [line for line in lines if line]
    width = shutil.get_terminal_size((120, 40)).columns
    for line in said if full else said[:_ROWS]:
        yield textwrap.fill(line, width, subsequent_indent="  ") if full else textwrap.shorten(line, 2 * width)
    if len(said) > _ROWS and not full:
        yield f"and {len(said) - _ROWS} more; --full shows them"


def elsewhere(audit: Audit) -> list[list[object]]:
    """Return for each card without a compiler here how many launches would fit it, and how many not."""
    rows: list[list[object]] = []
    for name, card in absent():
        found = [bool(why) for _, why in checked(audit, card)]
        grid = " x ".join(map(str, card.grid)) or "-"
        rows.append([name, card.threads or "-", card.shared or "-", grid, found.count(False), found.count(True)])
    return rows


ELSEWHERE = ("card", "threads", "on-chip memory", "grid", "would fit", "would not fit")
"""Headings of :func:`elsewhere`."""


def limits(targets: Iterable[str]) -> list[list[object]]:
    """Return the limits of architectures, a row each."""
    return [
        [one.name, one.shared, one.threads, one.tensor_memory or "-", one.registers, one.lanes, " ".join(one.matrix)]
        for one in (ARCHITECTURES[name] for name in targets)
    ]


LIMITS = ("target", "shared memory", "threads", "tensor memory", "registers", "lanes of a wave", "matrix instructions")
"""Headings of :func:`limits`: bytes, threads, columns, registers of 32 bits, threads."""

PAIRS = (("sm_80", "sm_75"), ("sm_90", "sm_120"), ("sm_90", "gfx942"), ("gfx942", "gfx1100"))
"""What a document holds against each other."""


def _told(audit: Audit, here: str, there: str) -> str:
    lines = "\n".join(f"- {line}" for line in told(audit, here, there))
    return f"### From {here} to {there}\n\n{lines}"


def facts(audit: Audit) -> dict[str, Any]:
    """Return the audit as JSON values: what is shown of it, ready to be shown, and all figures."""
    return {
        "compilers": list(audit.compilers),
        "headings": list(HEADINGS),
        "rows": summary(audit),
        "remarks": list(findings(audit)),
        "audit": audit.to_value(),
    }


def document(audit: Audit) -> str:
    """Return the audit as a Markdown document."""
    dtypes = dict.fromkeys(use.dtype for use in audit.uses)
    about = _ABOUT.format(compilers="; ".join(audit.compilers), dtypes=", ".join(dtypes))
    title = f"# Hardware that is not here\n\n{textwrap.fill(about, 120, break_on_hyphens=False)}"
    parts = [
        title,
        tabulate(summary(audit), HEADINGS, tablefmt="github"),
        f"## Limits\n\n{_LIMITS}",
        tabulate(limits(audit.targets), LIMITS, tablefmt="github"),
        f"## What becomes of each implementation\n\n{_CELLS}",
        tabulate(list(cells(audit)), ["implementation", "dtype", *audit.targets], tablefmt="github"),
        f"## Cards whose compilers are not here\n\n{_CARDS}",
        tabulate(elsewhere(audit), ELSEWHERE, tablefmt="github"),
        "\n".join(f"- {line}" for name, card in absent() for line in misfits(audit, name, card)),
        "## From one architecture to another",
        *(_told(audit, here, there) for here, there in PAIRS if {here, there} <= set(audit.targets)),
        "## Single configurations",
        "\n".join(f"- {line}" for line in remarks(audit)),
    ]
    return "\n\n".join(parts) + "\n"


_ABOUT = """What compilers ({compilers}) make of kernels, in every configuration, for architectures that are not here,
in {dtypes}: written by `python -m platforms targets --write`. Nothing was run. What a block takes is held against what
it may have; a kernel that asks its device what fits is answered as that device would. A configuration that is chosen
on another architecture only is compiled all the same. `lost of others` are those that do not compile or fit, and
`seconds` is how long one core took for all."""

_LIMITS = """What a block may have, and a thread of registers. Compilers do not look at the first three."""

_CARDS = f"""What is launched on {STAND_IN}, held against limits that are known from documents alone
([vendors](vendors.md)): threads follow from the warps that are asked for, on-chip memory is what the compiler for
{STAND_IN} takes, and the grid is that of a typical case of 16777216 elements."""

_CELLS = """Matrix instructions that the code has, or FMA in their stead; `yes` where nothing is multiplied; `-` where
nothing is launched."""


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
                round(sum(one.seconds for one in _readings(audit, audit.compiled, target))),
            ]
        )
    return rows


HEADINGS = ("target", *VERDICTS, "spills", "matrix units", "FMA instead", "lost of others", "seconds")
"""Of :func:`summary`: the last but one counts configurations of other architectures that do not compile or fit here,
the last is how long compilers took."""


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
    """Yield what is lost and where, what many kernels have alike, few programs, what spills, and what is unknown."""
    users: dict[str, dict[str, None]] = {}
    for use in audit.uses:
        users.setdefault(use.key, {})[f"{use.implementation} {use.dtype}"] = None
    alike: dict[str, dict[str, None]] = {}
    spills: list[str] = []
    unknown: Counter[str] = Counter()
    for key, one in audit.compiled.items():
        readings = sorted(one.readings.values(), key=lambda reading: audit.targets.index(reading.target))
        title = f"{', '.join(users[key])}: {one.kernel} {one.configuration}".rstrip()
        yield from (f"{title}: {text}" for text in _lost(readings))
        for text in _slow(readings):
            alike.setdefault(text, {}).update(users[key])
        spilled = [f"{one.spills} on {one.target}" for one in readings if one.spills]
        spills += [f"{title}: register spills: {', '.join(spilled)}"] if spilled else []
        unknown.update(reading.unfinished for reading in readings if reading.unfinished)
    yield from (f"{text}: {', '.join(names)}" for text, names in alike.items())
    yield from _few(audit)
    yield from spills
    yield from (f"{count} compilations: {why}" for why, count in unknown.items())


FEW = 8
"""Programs that leave nearly all of any device idle."""


def _few(audit: Audit) -> Iterator[str]:
    """Yield what launches few programs, each once: a grid that is fixed, or of one row, is seen without a clock."""
    found = {
        f"{use.implementation} {use.dtype}: {audit.compiled[use.key].kernel} has a grid of {programs}"
        for use in audit.uses
        if use.grid and (programs := math.prod(use.grid)) < FEW
    }
    yield from (f"{line}, whatever there is to do in the typical case" for line in sorted(found))


def _lost(readings: Sequence[Reading]) -> Iterator[str]:
    if lacking := memory(readings):
        yield lacking
    failing = [(one, text) for one in readings for text in ([one.error] if one.error else one.overruns)]
    yield from _places((one, text) for one, text in failing if "shared memory" not in text)


def _slow(readings: Sequence[Reading]) -> Iterator[str]:
    compiling = [one for one in readings if one.verdict == COMPILES]
    yield from _places((one, text) for one in compiling for text in one.findings if "register spills" not in text)


def _places(said: Iterable[tuple[Reading, str]]) -> Iterator[str]:
    """Yield each text with the architectures that it is said of."""
    places: dict[str, list[str]] = {}
    for one, text in said:
        places.setdefault(text, []).append(one.target)
    yield from (f"{text} on {', '.join(targets)}" for text, targets in places.items())


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
    return " ".join(["+".join(units) or "yes", *([f"{spills} spilled"] if spills else [])])
