"""The end of a run on a terminal: what came of each pair, what failed and how to replay it, and what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from reports.failures import failures, replay
from reports.ink import counted, figure, paint
from reports.record import VERDICTS, Outcome, Record
from reports.table import table
from reports.tally import Tally

_SHOWN = 8
_NARROWEST = 60
_OUTCOMES: tuple[Outcome, ...] = ("pass", "none", "fail")


def summary(
    records: Iterable[Record],
    *,
    width: int,
    colour: bool,
    unrun: Iterable[tuple[str, str]] = (),
    full: bool = False,
    where: str = "",
    options: str = "",
) -> str:
    """Return the summary of a run: the table, failures, drifts, what was not run, the teeth, the totals.

    ``records`` are read once, in the order they were made. ``unrun`` holds pairs (thing, reason) of what could not be
    run. Lines are at most ``width`` characters, of which there are taken to be 60 at least, but for replay commands.
    Without ``colour`` all is printable ASCII. Lists are cut to a screenful unless ``full``; ``where`` is the command
    or the place that shows the rest. ``options`` are what else replay commands need.
    """
    return render(Tally.of(records, unrun), width=width, colour=colour, full=full, where=where, options=options)


def render(tally: Tally, *, width: int, colour: bool, full: bool = False, where: str = "", options: str = "") -> str:
    """Return the summary of a tally; the arguments are those of ``summary``."""
    width = max(width, _NARROWEST)
    failed = failures(tally, width=width, colour=colour, full=full, where=where, options=options)
    sections = [
        table(tally, width=width, colour=colour, full=full),
        failed,
        _titled("drift, accounted for:", _drifts(tally), width, full),
        _titled("not run:", _unrun(tally, full), width, full),
        [*_wrapped(_teeth(tally), width), *_wrapped(_totals(tally), width), *_next(tally, width, colour, options)],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _titled(title: str, lines: list[str], width: int, full: bool) -> list[str]:
    shown = lines if full else lines[:_SHOWN]
    left_out = [f"  and {len(lines) - len(shown)} more"] if len(shown) < len(lines) else []
    wrapped = [
        part for line in shown for part in textwrap.wrap(line, width, initial_indent="  ", subsequent_indent="    ")
    ]
    return [title, *wrapped, *left_out] if lines else []


def _drifts(tally: Tally) -> list[str]:
    worst_first = sorted(tally.drifts.items(), key=lambda item: -(item[1].share or 0.0))
    return [
        f"{implementation} on {platform} ({drift.count}): {accounted}"
        + ("" if drift.share is None else f", at most {figure(drift.share)} of the bound")
        for (implementation, platform, accounted), drift in worst_first
    ]


def _unrun(tally: Tally, full: bool) -> list[str]:
    # What a contract has nothing to say of is no loss, and comes last.
    most_first = sorted(tally.unrun.items(), key=lambda item: (item[0].startswith("contract "), -item[1].total()))
    return [
        f"{_named(list(things), len(things) if full else _SHOWN)}: {reason}" + _times(things.total())
        for reason, things in most_first
    ]


def _named(things: list[str], shown: int) -> str:
    """Return the names of things, separated by commas, and how many more there are."""
    more = [f"{len(things) - shown} more"] if len(things) > shown else []
    return ", ".join([*things[:shown], *more])


def _times(number: int) -> str:
    return f" ({number} times)" if number > 1 else ""


def _teeth(tally: Tally) -> str:
    # Rounded down, so that only a corruption that was always refused reaches 100 %.
    shares = [f"{name} {100 * tally.refused[name] // tried} %" for name, tried in tally.tried.items()]
    vacuous = f"{tally.verdicts['vacuous', 'none']} of {counted(tally.verdicts.total(), 'record')} vacuous"
    return f"teeth: {', '.join(shares) or 'no corruption was tried'}; {vacuous}"


def _totals(tally: Tally) -> str:
    parts = [
        f"{tally.verdicts[verdict, result]} {_verdict(verdict, result)}"
        for verdict in VERDICTS
        for result in _OUTCOMES
        if tally.verdicts[verdict, result]
    ]
    return f"totals: {', '.join(parts) or 'no records'}"


def _verdict(verdict: str, result: Outcome) -> str:
    if result == "fail":
        return verdict.upper()
    return "drift accounted for" if verdict == "drift" else verdict


def _next(tally: Tally, width: int, colour: bool, options: str) -> list[str]:
    if tally.total("fail"):
        return [f"replay the first failure with: {replay(tally.failures[0], options)}"]
    result: Outcome = "pass" if tally.total("pass") else "none"
    return [paint(line, result, colour=colour) for line in _wrapped(_agreement(tally), width)]


def _agreement(tally: Tally) -> str:
    """What a run without failures shows, claiming nothing for implementations that no record speaks for."""
    implementations = {implementation for implementation, _ in tally.cells}
    agreeing = {implementation for (implementation, _), cell in tally.cells.items() if cell.outcome == "pass"}
    if not implementations:
        return "nothing was run, so nothing is known"
    if not agreeing:
        return "no output was judged, so nothing is known: every case was vacuous or unsupported"
    agree = "1 implementation agrees" if len(agreeing) == 1 else f"{len(agreeing)} implementations agree"
    if agreeing == implementations:
        return f"{'all ' if len(agreeing) > 1 else ''}{agree} with golden"
    return f"{agree} with golden; {len(implementations) - len(agreeing)} more could not be judged"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ")
