"""``python -m platforms profile``: the profiles of this machine's platforms, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from platforms.detect import DetectionError, detect
from platforms.gather import probe
from platforms.platform import Platform
from platforms.pool import Pool, WorkerError

_WORKER = "platforms.profile.worker"


def main(arguments: list[str] | None = None) -> int:
    """Print the profiles and return the exit code: 0, or 1 if there is no such platform."""
    parser = argparse.ArgumentParser(prog="python -m platforms profile", description="How platforms compute.")
    parser.add_argument("--platform", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    parser.add_argument(
        "--implementation", action="append", default=[], metavar="PATTERN", help="sums and products to ask; repeatable"
    )
    parser.add_argument("--machine", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    parser.add_argument("--json", action="store_true", help="print everything, evidence included, as JSON")
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
            profiles[platform.name] = list(_answers(pool, platform, options.implementation, options.machine))
    print(json.dumps(profiles, indent=1) if options.json else _table(profiles))
    return 0 if profiles else 1


def _answers(pool: Pool, platform: Platform, patterns: list[str], only: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the answers of every machine of ``platform``; one that fails is an answer that says so."""
    for machine in pool.call(platform, f"{_WORKER}:machines", patterns=patterns):
        if only and machine not in only:
            continue
        print(f"{platform.name}: {machine}", file=sys.stderr, flush=True)
        try:
            yield from pool.call(platform, f"{_WORKER}:answers", machine=machine)
        except WorkerError as error:
            yield {"machine": machine, "topic": "profile", "subject": "", "answer": "failed", "evidence": str(error)}


def _table(profiles: dict[str, list[dict[str, Any]]]) -> str:
    """Return questions by machines, platforms side by side."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for platform, answers in profiles.items():
        for one in answers:
            row = cells.setdefault((one["topic"], one["subject"]), {})
            row[f"{platform} {one['machine']}"] = one["answer"]
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    rows = [[*question, *(row.get(column, "") for column in columns)] for question, row in cells.items()]
    return tabulate(rows, ["question", "of", *columns], tablefmt="simple", disable_numparse=True)


if __name__ == "__main__":
    sys.exit(main())
