"""The command line of the reports.

``show DIR`` prints the summary of a bundle again. The other commands take any number of bundles, from any machines, and
merged ones: ``compare`` prints how far each implementation drifts on one place beyond another, ``profiles`` which
questions on how they compute places answer differently, ``merge`` makes one bundle of many, ``markdown``, ``json``,
``junit`` and ``html`` write documents. They need what requirements-report.txt lists.

Exit status: 0 if the gate of ``--fail-on`` is met, 1 if it is not, 2 if a bundle cannot be read or a command is wrong.
Without a gate ``show`` fails for any verdict that fails, ``compare`` and ``profiles`` for what is flagged; the others
do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from reports.agreement import render as agreement
from reports.bundle import ENVIRONMENT, BundleError, read, read_heats
from reports.compare import render as render_carried
from reports.gate import GateError
from reports.profile import render as profiles
from reports.profile_differences import render as render_apart
from reports.profile_differences import summed_up
from reports.tally import Tally
from reports.targets import render as targets
from reports.terminal import render

if TYPE_CHECKING:
    from reports.audit import Audit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` name, those of the process if None, and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except ModuleNotFoundError as error:
        print(f"reports: {error.name} is missing: python -m pip install -r requirements-report.txt", file=sys.stderr)
        return 2
    except (BundleError, GateError) as error:
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
    compare = _several(commands, "compare", "how far implementations drift from one place to another", _compare)
    compare.add_argument("--full", action="store_true", help="cut no list to a screenful")
    carryover = commands.add_parser(
        "carryover",
        help="which optimizations carry over from one device to another",
        description="Print what became of each optimization between the devices that bundles are of.",
    )
    carryover.add_argument("bundles", type=Path, nargs="+", metavar="DIR", help="folders that runs with timings left")
    carryover.add_argument("--full", action="store_true", help="print every ladder, and what each paradigm reaches")
    carryover.add_argument(
        "--by-platform", action="store_true", help="tell platforms apart that share a device, such as two compilers"
    )
    carryover.add_argument("--since", type=Path, metavar="DIR", help="an older bundle: flag what became slower")
    carryover.add_argument("--write", type=Path, metavar="FILE", help="write everything there, as Markdown")
    carryover.set_defaults(command=_carryover)
    computing = _several(
        commands, "profiles", "which questions on how they compute places answer differently", _profiles
    )
    computing.add_argument("--full", action="store_true", help="cut no list to a screenful")
    merge = _several(commands, "merge", "make one bundle of many", _merge)
    merge.add_argument("--into", type=Path, required=True, metavar="DIR", help="an empty folder, or a new one")
    for name, text in (
        ("markdown", "for a comment on a pull request"),
        ("json", "for programs: what fails, why, and how to replay it"),
        ("junit", "for CI systems"),
        ("html", "one file for people, which needs nothing else"),
    ):
        document = _several(commands, name, text, _document)
        document.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
        document.set_defaults(kind=name)
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
    for told in (agreement, profiles, targets):
        if text := told(environment, width=options.width or shutil.get_terminal_size().columns, full=options.full):
            print(f"\n{text}")
    for problem in problems:
        print(f"reports: {problem}", file=sys.stderr)
    return 1 if tally.total("fail") else 0


def _several(commands: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """Return the parser of a command that takes any number of bundles and a gate."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("bundles", type=Path, nargs="+", metavar="DIR", help="folders that runs left")
    parser.add_argument(
        "--fail-on", default="", metavar="WORDS", help="exit with 1 for these: verdicts, drift, failure, regression"
    )
    parser.set_defaults(command=run)
    return parser


def _compare(options: argparse.Namespace) -> int:
    audit, gate = _audit(options)
    print(render_carried(audit.carried, full=options.full))
    if said := summed_up(audit.profiles):
        print(f"{said} (python -m reports profiles)")
    flagged = audit.profiles.flagged or any(row.flagged for row in audit.carried)
    return _gated(audit, gate) if gate else int(bool(flagged))


def _profiles(options: argparse.Namespace) -> int:
    audit, gate = _audit(options)
    print(render_apart(audit.profiles, full=options.full))
    return _gated(audit, gate) if gate else int(bool(audit.profiles.flagged))


def _carryover(options: argparse.Namespace) -> int:
    from reports.ladder.page import Page
    from reports.ladder.regressions import regressions, repeated

    heats = [heat for bundle in options.bundles for heat in read_heats(bundle)]
    if not heats:
        raise BundleError(f"no timings in {', '.join(map(str, options.bundles))}; suites/test_carryover.py takes some")
    before = read_heats(options.since) if options.since else []
    flagged, again = list(regressions(before, heats)), repeated(before, heats)
    if options.by_platform:
        heats = [replace(heat, device=f"{heat.platform} on {heat.device}") for heat in heats]
    page = Page(heats)
    print(page.whole() if options.full else page.brief())
    if options.write:
        options.write.write_text(Page(heats, markdown=True).document(), encoding="utf-8")
    if options.since:
        print(f"\nBeside {options.since}: {again}.")
    for line in (*again.contradictions, *(f"SLOWER: {one}" for one in flagged)):
        print(line)
    return 1 if flagged else 0


def _merge(options: argparse.Namespace) -> int:
    from reports.fleet.loading import Fleet
    from reports.fleet.merging import merge

    with Fleet(options.bundles) as fleet:
        print(merge(fleet, options.into))
    audit, gate = _audit(options) if options.fail_on else (None, ())
    return _gated(audit, gate) if audit else 0


def _document(options: argparse.Namespace) -> int:
    from reports import junit, machine, markdown

    audit, gate = _audit(options)
    written = {
        "markdown": lambda: markdown.document(audit, gate),
        "json": lambda: machine.document(audit, gate) + "\n",
        "junit": lambda: junit.document(audit),
        "html": lambda: _html(audit, gate),
    }
    text = written[options.kind]()
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return _gated(audit, gate)


def _html(audit: Audit, gate: tuple[str, ...]) -> str:
    from reports.html.document import document  # which alone needs Jinja2

    return document(audit, gate)


def _audit(options: argparse.Namespace) -> tuple[Audit, tuple[str, ...]]:
    """Return what the bundles amount to, and the gate; notes on them go to standard error."""
    from reports.audit import Audit
    from reports.fleet.loading import Fleet
    from reports.gate import parse

    gate = parse(options.fail_on)
    with Fleet(options.bundles) as fleet:
        audit = Audit.of(fleet)
    for problem in audit.problems:
        print(f"reports: {problem}", file=sys.stderr)
    return audit, gate


def _gated(audit: Audit, gate: tuple[str, ...]) -> int:
    from reports.gate import breaches

    broken = breaches(audit, gate)
    for line in broken:
        print(f"reports: the gate is not met: {line}", file=sys.stderr)
    return 1 if broken else 0


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
