"""The command line of the reports.

``python -m reports show DIR`` prints the summary of a bundle again, ``python -m reports compare A [B]`` how far each
implementation drifts on B's platforms beyond A's, or on one of A's beyond another. Exit status: 0 if nothing failed or
was flagged, 1 if something was, 2 if a bundle cannot be read.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from reports.agreement import render as agreement
from reports.bundle import ENVIRONMENT, BundleError, read
from reports.compare import carried
from reports.compare import render as render_carried
from reports.tally import Tally
from reports.terminal import render


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` name, those of the process if None, and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except BundleError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reports", description="Show what runs have left.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print the summary of a bundle", description="Print a bundle's summary.")
    show.add_argument("bundle", type=Path, metavar="DIR", help="the folder that a run left")
    show.add_argument("--full", action="store_true", help="cut no list to a screenful")
    show.add_argument("--colour", choices=("auto", "always", "never"), default="auto", help="default: auto")
    show.add_argument("--width", type=int, default=None, help="columns; default: those of the terminal")
    show.set_defaults(command=_show)
    compare = commands.add_parser(
        "compare", help="how far implementations drift from one platform to another", description="Compare platforms."
    )
    compare.add_argument("origin", type=Path, metavar="A", help="the folder that a run left")
    compare.add_argument("target", type=Path, nargs="?", metavar="B", help="that of another machine's; default: A too")
    compare.add_argument("--full", action="store_true", help="cut no list to a screenful")
    compare.set_defaults(command=_compare)
    return parser


def _show(options: argparse.Namespace) -> int:
    environment, records, problems = read(options.bundle)
    tally = Tally.of(records, _unrun(environment, options.bundle))
    print(
        render(
            tally,
            width=options.width or shutil.get_terminal_size().columns,
            colour=_colour(options.colour),
            full=options.full,
            where=f"python -m reports show --full {quote(str(options.bundle))}",
            options=str(environment.get("replay", "")),
        )
    )
    agreed = agreement(environment, width=options.width or shutil.get_terminal_size().columns, full=options.full)
    if agreed:
        print(f"\n{agreed}")
    for problem in problems:
        print(f"reports: {problem}", file=sys.stderr)
    return 1 if tally.total("fail") else 0


def _compare(options: argparse.Namespace) -> int:
    rows = carried(read(options.origin).records, read(options.target or options.origin).records)
    print(render_carried(rows, full=options.full))
    return 1 if any(row.flagged for row in rows) else 0


def _unrun(environment: dict[str, Any], bundle: Path) -> list[tuple[str, str]]:
    pairs = environment.get("unrun", [])
    right = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair) for pair in pairs
    )
    if not right:
        raise BundleError(f'{bundle / ENVIRONMENT}: "unrun" must be a list of pairs [thing, reason], not {pairs!r}')
    return [(thing, reason) for thing, reason in pairs]


def _colour(choice: str) -> bool:
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return choice == "always"


if __name__ == "__main__":
    sys.exit(main())
