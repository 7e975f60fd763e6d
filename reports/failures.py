"""The failures of a run, each with the command that replays it."""

from __future__ import annotations

from collections import Counter
from shlex import join, quote, split

from reports.ink import clip, counted, figure, paint, plain
from reports.record import Record
from reports.tally import Tally

_SHOWN = 8


def failures(tally: Tally, *, width: int, colour: bool, full: bool, where: str, options: str = "") -> list[str]:
    """Return a few lines for each implementation and platform that failed: what happened, why, how to replay it.

    Replay commands are whole, also beyond ``width``, for they are there to be pasted. Unless ``full``, failures beyond
    a screenful are left out and counted; ``where`` says where they are.
    """
    found = tally.failures
    shown = found if full else found[:_SHOWN]
    lines = []
    for record in shown:
        lines.append(paint(clip(_what(record), width), "fail", colour=colour))
        lines += [clip(f"  {plain(record.cause)}", width)] if record.cause else []
        lines.append(f"  {replay(record, options)}")
    left_out = Counter(record.platform for record in found[len(shown) :])
    if left_out:
        places = ", ".join(f"{number} on {platform}" for platform, number in sorted(left_out.items()))
        more = f"and {counted(left_out.total(), 'more failure')}: {places}"
        lines.append(clip(f"{more}; all of them: {where}" if where else more, width))
    return lines


def replay(record: Record, options: str = "") -> str:
    """Return the shell command that runs the record's case again, on its implementation and platform.

    ``options`` are what else the run was given that the replay needs, such as where its kernels are.
    """
    return command(record.case, record.implementation, record.platform, options)


def command(case: str, implementation: str, platform: str, options: str = "") -> str:
    """Return the shell command that runs a case on an implementation and platform; see :func:`replay`."""
    said = (
        f"python -m pytest --case {quote(case)} --implementation {quote(implementation)} --platform {quote(platform)}"
    )
    needed = _needed(options, platform)
    return f"{said} {needed}" if needed else said


def _needed(options: str, platform: str) -> str:
    """Return ``options`` without the gateways to other places than that of ``platform``, which end in its id."""
    place = platform.partition("@")[2]
    words = split(options)
    return join(one for one in words if not one.startswith("--gateway=") or one.endswith(f"//id={place}"))


def _what(record: Record) -> str:
    figures = []
    if record.share is not None:
        figures.append(f"error {figure(record.share)} of the bound")
    if record.max_ulp is not None:
        figures.append(f"{figure(record.max_ulp)} ULP")
    said = [", ".join(figures), plain(record.message)]
    return ": ".join([f"{record.verdict.upper()} {record.implementation} on {record.platform}", *filter(None, said)])
