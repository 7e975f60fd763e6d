"""``python -m platforms profile``: the profiles of this machine's platforms, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from platforms.detect import DetectionError, detect
from platforms.gather import probe
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.profile.drawing import drawn, pictures, svg
from platforms.profile.measuring import answers, machines
from platforms.profile.questions import EXTENTS


def main(arguments: list[str] | None = None) -> int:
    """Print the profiles and return the exit code: 0, or 1 if there is no such platform."""
    parser = argparse.ArgumentParser(prog="python -m platforms profile", description="How platforms compute.")
    parser.add_argument("--platform", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    parser.add_argument(
        "--implementation", action="append", default=[], metavar="PATTERN", help="sums and products to ask; repeatable"
    )
    parser.add_argument("--machine", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    parser.add_argument(
        "--extent", choices=tuple(EXTENTS), default="full", help="brief: what every run asks (default: full)"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--trees",
        nargs="?",
        const="",
        metavar="DIR",
        help="draw in which order is added up: in text, or as SVG into DIR",
    )
    shown.add_argument("--json", action="store_true", help="print everything, evidence included, as JSON")
    options = parser.parse_args(arguments)
    try:
        found = detect(probe(), chosen=None).found
    except DetectionError as error:
        parser.error(str(error))
    known = [platform.name for platform in found]
    if unknown := [name for name in options.platform if name not in known]:
        parser.error(f"no platform {unknown[0]!r} here; there are {', '.join(known)}")
    wanted = [one for one in found if one.name in options.platform or (not options.platform and not one.on_request)]
    profiles: dict[str, list[dict[str, Any]]] = {}
    with Pool() as pool:
        for platform in wanted:
            profiles[platform.name] = list(_answers(pool, platform, options))
    print(json.dumps(profiles, indent=1) if options.json else _table(profiles))
    if options.trees is not None:
        _draw(profiles, options.trees)
    return 0 if profiles else 1


def _answers(pool: Pool, platform: Platform, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the answers of the machines of ``platform`` that were asked for, saying which one's turn it is."""
    for machine in machines(pool, platform, options.extent, options.implementation):
        if not options.machine or machine in options.machine:
            print(f"{platform.name}: {machine}", file=sys.stderr, flush=True)
            yield from answers(pool, platform, machine, options.extent)


def _draw(profiles: dict[str, list[dict[str, Any]]], folder: str) -> None:
    """Print every tree that was found, or write its picture into ``folder``."""
    for platform, answered in profiles.items():
        for picture in pictures(platform, answered):
            if folder:
                Path(folder).mkdir(parents=True, exist_ok=True)
                file = Path(folder) / f"{picture.name}.svg"
                file.write_text(svg(picture.tree, picture.title), encoding="utf-8")
                print(file)
            else:
                print(f"\n{picture.title}\n{drawn(picture.tree)}")


def _table(profiles: dict[str, list[dict[str, Any]]]) -> str:
    """Return questions by machines, platforms side by side."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for platform, answered in profiles.items():
        for one in answered:
            row = cells.setdefault((one["topic"], one["subject"]), {})
            row[f"{platform} {one['machine']}"] = one["answer"]
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    rows = [[*question, *(row.get(column, "") for column in columns)] for question, row in cells.items()]
    return tabulate(rows, ["question", "of", *columns], tablefmt="simple", disable_numparse=True)


if __name__ == "__main__":
    sys.exit(main())
