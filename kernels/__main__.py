"""``python -m kernels``: which operations there are, how each can be computed, and what is absent, with the reason."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from tabulate import tabulate  # type: ignore[import-untyped]

from golden.numerics import meaning
from kernels.operation import Operation
from kernels.registry import Catalogue, Implementation, KernelFileError, load

_HEADINGS = ("implementation", "optimizes", "technique", "numerics", "dtypes")
_WIDTHS = (34, 14, 20, 8, 12)
_POLICY_WIDTHS = (20, 70)
_ABSENT_WIDTHS = (36, 58)
_PLACES_WIDTHS = (14, 80)
_INDENT = "  "


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the catalogue, at most 100 columns wide, and return the exit status: 0, or 2 for a faulty kernel file."""
    options = _parser().parse_args(arguments)
    try:
        catalogue = load(options.kernels)
    except KernelFileError as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 2
    print("\n".join(_lines(catalogue)))
    if not options.anywhere:
        print("\n".join(["", "runs here (`python -m platforms` says more):", *_table(_places(), _PLACES_WIDTHS)]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kernels", description="List operations and implementations.")
    parser.add_argument(
        "--kernels",
        action="append",
        default=[],
        metavar="PATH",
        help="also list the implementations (and operations) in this file or folder; repeatable",
    )
    parser.add_argument("--anywhere", action="store_true", help="do not look which platforms are here")
    return parser


def _places() -> list[tuple[str, ...]]:
    """Return paradigms, each with the platforms of this machine that run it.

    Asked of that package's own command, since kernels know nothing of platforms.
    """
    command = [sys.executable, "-m", "platforms", "--json"]
    root = Path(__file__).resolve().parents[1]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        found = json.loads(ended.stdout)["found"]
    except ValueError:
        return [("unknown", ended.stderr.strip() or "python -m platforms said nothing")]
    places = defaultdict(list)
    for platform in found:
        for paradigm in platform["paradigms"]:
            places[paradigm].append(platform["name"])
    return [(paradigm, ", ".join(names)) for paradigm, names in places.items()] or [("-", "no platform is here")]


def _lines(catalogue: Catalogue) -> Iterator[str]:
    everything = catalogue.implementations.values()
    for operation in catalogue.operations.values():
        yield from _operation(operation, [one for one in everything if one.operation == operation.name])
        yield ""
    for numerics in sorted({one.numerics for one in everything} - {"ieee"}):
        yield f"numerics {numerics}: {meaning(numerics)}"
    if catalogue.absent:
        yield "absent:"
        yield from _table(list(catalogue.absent.items()), _ABSENT_WIDTHS)


def _operation(operation: Operation, implementations: Sequence[Implementation]) -> Iterator[str]:
    yield operation.signature
    yield from _table([("dtypes", " ".join(operation.dtypes)), *operation.policies.items()], _POLICY_WIDTHS)
    yield ""
    if implementations:
        yield from _table([_row(one) for one in implementations], _WIDTHS, _HEADINGS)
    else:
        yield f"{_INDENT}no implementation"


def _row(one: Implementation) -> tuple[str, ...]:
    dtypes = "all" if one.dtypes is None else " ".join(one.dtypes)
    return one.id, one.optimizes or "-", one.technique or "-", one.numerics, dtypes


def _table(rows: Sequence[tuple[str, ...]], widths: Sequence[int], headings: Sequence[str] = ()) -> Iterator[str]:
    style = "simple" if headings else "plain"
    text = tabulate(rows, headings, tablefmt=style, maxcolwidths=list(widths), disable_numparse=True)
    yield from (f"{_INDENT}{line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
