"""The table of a run: a row for each implementation, a column for each platform, what came of each pair in its cell.

Where the platforms do not fit side by side there are several tables, and long names are wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.ink import counted, figure, paint
from reports.tally import Cell, Tally

_LEGEND = "error / bound, (passed of run); in capitals: (failed of run)"
_HEADING = "implementation"
_NARROWEST = 16
_GAP = 2  # between columns, and the padding of every heading
_ROWS = 40


def table(tally: Tally, *, width: int, colour: bool, full: bool) -> list[str]:
    """Return the lines of the table, each at most ``width`` characters wide, which must be 60 or more.

    Unless ``full``, implementations beyond a screenful are left out, those first that failed nowhere, and counted.
    """
    if not tally.cells:
        return []
    rows = _rows(tally, full)
    left_out = len({implementation for implementation, _ in tally.cells}) - len(rows)
    platforms = sorted({platform for _, platform in tally.cells})
    widths = {platform: _column_width(tally, rows, platform) for platform in platforms}
    longest = max(len(_HEADING) + _GAP, *map(len, rows))
    everything = longest + _GAP + sum(_GAP + one for one in widths.values())
    heading = longest if everything <= width else min(longest, max(width // 3, _NARROWEST))
    lines = []
    for group in _groups(platforms, widths, width - heading - _GAP):
        headers = [_HEADING, *("\n".join(_wrap(one, widths[one] - _GAP)) for one in group)]
        body = [["\n".join(_wrap(row, heading)), *(_cell(tally, row, one, colour) for one in group)] for row in rows]
        lines += [*tabulate(body, headers, tablefmt="simple", disable_numparse=True).splitlines(), ""]
    lines[-1] = _LEGEND
    if left_out:
        lines.append(f"and {counted(left_out, 'more implementation')}")
    return lines


def _rows(tally: Tally, full: bool) -> list[str]:
    failed: dict[str, bool] = {}
    for (implementation, _), cell in tally.cells.items():
        failed[implementation] = failed.get(implementation, False) or cell.outcome == "fail"
    first = sorted(failed, key=lambda name: (not failed[name], name))
    return sorted(first if full else first[:_ROWS])


def _column_width(tally: Tally, rows: Sequence[str], platform: str) -> int:
    cells = max(len(_cell(tally, row, platform, False)) for row in rows)
    return max(cells, min(len(platform), _NARROWEST) + _GAP)


def _groups(platforms: Sequence[str], widths: dict[str, int], room: int) -> Iterator[list[str]]:
    group: list[str] = []
    used = 0
    for platform in platforms:
        if group and used + widths[platform] > room:
            yield group
            group, used = [], 0
        group.append(platform)
        used += widths[platform] + _GAP
    yield group


def _cell(tally: Tally, implementation: str, platform: str, colour: bool) -> str:
    cell = tally.cells.get((implementation, platform))
    return "-" if cell is None else paint(_text(cell), cell.outcome, colour=colour)


def _text(cell: Cell) -> str:
    number, run = cell.counts[cell.outcome], cell.counts.total()
    verdict = cell.verdicts[cell.outcome]
    if cell.outcome == "fail":
        return f"{verdict.upper()} ({number} of {run})"
    share = f" {figure(cell.share)}" if verdict != "exact" and cell.outcome == "pass" and cell.share else ""
    return f"{verdict}{share} ({number})" if number == run else f"{verdict}{share} ({number} of {run})"


def _wrap(name: str, width: int) -> list[str]:
    """Return ``name`` in pieces of at most ``width`` characters, broken before a slash where possible."""
    pieces = [""]
    for part in re.split(r"(?=/)", name):
        if len(pieces[-1]) + len(part) <= width:
            pieces[-1] += part
            continue
        pieces += [part[start : start + width] for start in range(0, len(part), width)]
    return [piece for piece in pieces if piece]
