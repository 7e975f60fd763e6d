"""``python -m platforms targets``: kernels compiled for hardware that is not here, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

from kernels.registry import KernelFileError, load
from platforms.targets.architecture import ARCHITECTURES


def main(arguments: list[str] | None = None) -> int:
    """Print the audit and return the exit code: 0, or 1 where nothing could be compiled at all."""
    options = _parser().parse_args(arguments)
    ends = [name for name in (options.here, options.there) if name]
    unknown = [name for name in [*options.target, *ends] if name not in ARCHITECTURES]
    if unknown:
        print(f"no target {unknown[0]!r}; there are {', '.join(ARCHITECTURES)}", file=sys.stderr)
        return 2
    if len(ends) == 1 or (ends and options.target):
        print("--from and --to go together, without --target", file=sys.stderr)
        return 2
    try:
        from platforms.targets import contrast, table
        from platforms.targets.audit import audit

        catalogue = load(options.kernels)
        made = audit(
            catalogue,
            architectures=[
                one for name, one in ARCHITECTURES.items() if name in (options.target or ends or ARCHITECTURES)
            ],
            patterns=options.implementation or ["*"],
            dtypes=options.dtype,
            jobs=options.jobs,
            time_limit=options.time_limit,
            within=options.within,
            progress=_Progress(),
        )
    except (KernelFileError, RuntimeError, ModuleNotFoundError) as error:
        print(f"targets: {error}", file=sys.stderr)
        return 2
    if ends:
        print("\n".join(table.shortened(contrast.told(made, *ends), full=options.full)))
        return 0
    if options.json:
        print(json.dumps(made.to_value()))
        return 0
    if options.write:
        options.write.write_text(table.document(made), encoding="utf-8")
        print(f"wrote {options.write}")
        return 0
    print(f"{', '.join(made.compilers)}: compiled for what is not here; nothing was run\n")
    print(table.text(made, full=options.full))
    return 0 if made.compiled else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m platforms targets", description="Kernels for absent hardware.")
    for name, metavar, said in (
        ("target", "NAME", f"of {', '.join(ARCHITECTURES)}"),
        ("implementation", "PATTERN", "only these"),
        ("dtype", "NAME", "only this one"),
        ("kernels", "PATH", "also your own kernels"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, action="append", default=[], help=f"{said}; repeatable")
    parser.add_argument("--from", dest="here", metavar="NAME", help="say what changes from this architecture ...")
    parser.add_argument("--to", dest="there", metavar="NAME", help="... to this one")
    parser.add_argument("--jobs", type=int, help="compilers side by side (default: one a core)")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="for one compilation")
    parser.add_argument(
        "--within", type=float, default=math.inf, metavar="SECONDS", help="begin nothing later; the next audit goes on"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a Markdown document instead of printing")
    parser.add_argument("--full", action="store_true", help="cut no list to a screenful")
    return parser


class _Progress:
    """Says on standard error how far the audit is, every few seconds."""

    def __init__(self) -> None:
        self._started = self._said = time.monotonic()

    def __call__(self, done: int, number: int) -> None:
        now = time.monotonic()
        if now - self._said > 5 or done == number:
            self._said = now
            print(f"{done} of {number} compiled, {now - self._started:.0f} s", file=sys.stderr, flush=True)
