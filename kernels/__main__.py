"""``python -m kernels``: which operations there are, how each can be computed, and what is absent, with the reason."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from tabulate import tabulate  # type: ignore[import-untyped]

from golden.numerics import meaning
from kernels.features import FEATURES
from kernels.operation import Operation
from kernels.registry import TOOLCHAINS, Catalogue, Implementation, KernelFileError, load

_HEADINGS = ("implementation", "optimizes", "technique", "numerics", "dtypes")
_WIDTHS = (34, 14, 20, 8, 12)
_POLICY_WIDTHS = (20, 70)
_ABSENT_WIDTHS = (36, 58)
_PLACES_WIDTHS = (14, 80)
_INDENT = "  "
_WIDTH = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the catalogue, at most 100 columns wide, and return the exit status: 0, or 2 for what it cannot be told."""
    options = _parser().parse_args(arguments)
    try:
        catalogue = load(options.kernels).whole
    except KernelFileError as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 2
    unknown = [name for name in options.operations if name not in catalogue.operations]
    if unknown:
        print(f"kernels: no operation {unknown[0]!r}; there are {', '.join(catalogue.operations)}", file=sys.stderr)
        return 2
    asked = list(catalogue.operations) if options.all else options.operations
    print("\n".join(_contracts(catalogue, asked) if asked else _matrix(catalogue)))
    if not options.anywhere:
        print("\n".join(["", "runs here (`python -m platforms` says more):", *_table(_places(), _PLACES_WIDTHS)]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kernels", description="How many implementations each operation has, or what its contract is."
    )
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="print the contract of this operation")
    parser.add_argument("--all", action="store_true", help="print the contract of every operation")
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


def _matrix(catalogue: Catalogue) -> Iterator[str]:
    """Yield the table of operations by paradigm: how many implementations, or that the toolchain is absent."""
    counts = Counter((one.operation, one.paradigm) for one in catalogue.implementations.values())
    paradigms = [name for name in TOOLCHAINS if any(name == paradigm for _, paradigm in counts)]
    paradigms += sorted({paradigm for _, paradigm in counts} - set(paradigms))
    paradigms += sorted({what.partition("/")[2] for what in catalogue.absent if "/" in what} - {"", *paradigms})

    def cell(operation: str, paradigm: str) -> str:
        count = counts[operation, paradigm]
        return str(count) if count else "absent" if f"{operation}/{paradigm}" in catalogue.absent else "-"

    rows = [(name, *(cell(name, paradigm) for paradigm in paradigms)) for name in catalogue.operations]
    totals = [sum(counts[name, paradigm] for name in catalogue.operations) for paradigm in paradigms]
    yield from _table([*rows, ("all", *map(str, totals))], (), ("operation", *paradigms))
    yield ""
    yield (
        f"{sum(totals)} implementations of {len(rows)} operations; `python -m kernels OPERATION` prints its contract "
        "and ladders"
    )
    yield from _absent(catalogue)


def _contracts(catalogue: Catalogue, operations: Sequence[str]) -> Iterator[str]:
    everything = [one for one in catalogue.implementations.values() if one.operation in operations]
    for name in operations:
        yield from _operation(catalogue.operations[name], [one for one in everything if one.operation == name])
        yield ""
    for numerics in sorted({one.numerics for one in everything} - {"ieee"}):
        yield f"numerics {numerics}: {meaning(numerics)}"
    for feature, what in FEATURES.items():
        if needing := [one.id for one in everything if feature in one.needs]:
            yield from wrap(f"{feature} ({what}) is needed by {', '.join(needing)}", _WIDTH, subsequent_indent=_INDENT)
    yield from _absent(catalogue)


def _absent(catalogue: Catalogue) -> Iterator[str]:
    """Yield what is absent, once for each reason."""
    by_reason = defaultdict(list)
    for what, reason in catalogue.absent.items():
        by_reason[reason].append(what)
    if by_reason:
        yield "absent:"
        yield from _table([(", ".join(what), reason) for reason, what in by_reason.items()], _ABSENT_WIDTHS)


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
    text = tabulate(rows, headings, tablefmt=style, maxcolwidths=list(widths) or None, disable_numparse=True)
    yield from (f"{_INDENT}{line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
