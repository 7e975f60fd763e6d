"""``python -m platforms targets``: kernels compiled for hardware that is not here, as a table or as JSON."""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kernels.registry import KernelFileError, load
from platforms.targets.architecture import ARCHITECTURES

if TYPE_CHECKING:
    from platforms.targets.audit import Audit


def main(arguments: list[str] | None = None) -> int:
    """Print the audit and return the exit code: 0, 1 where nothing could be compiled at all, 2 for wrong use."""
    options = _parser().parse_args(arguments)
    ends = [name for name in (options.here, options.there) if name]
    unknown = [name for name in [*options.target, *ends] if name not in ARCHITECTURES]
    if unknown:
        return _wrong(f"no target {unknown[0]!r}; there are {', '.join(ARCHITECTURES)}")
    if len(ends) == 1 or (ends and options.target):
        return _wrong("--from and --to go together, without --target")
    try:
        from platforms.targets.audit import merged

        made = (
            merged([_read(file) for file in options.read]) if options.read else _audit(options, options.target or ends)
        )
        if lacking := [name for name in ends if name not in made.targets]:
            return _wrong(f"the audit has nothing of {lacking[0]}")
    except (KernelFileError, RuntimeError, ModuleNotFoundError, OSError, ValueError) as error:
        return _wrong(str(error))
    _show(made, options, ends)
    return 0 if made.compiled else 1


def _wrong(text: str) -> int:
    print(f"targets: {text}", file=sys.stderr)
    return 2


def _audit(options: argparse.Namespace, targets: list[str]) -> Audit:
    from platforms.targets.audit import audit

    return audit(
        load(options.kernels),
        architectures=[one for name, one in ARCHITECTURES.items() if name in (targets or ARCHITECTURES)],
        patterns=options.implementation or ["*"],
        dtypes=options.dtype,
        jobs=options.jobs,
        time_limit=options.time_limit,
        within=options.within,
        progress=_Progress(),
    )


def _show(made: Audit, options: argparse.Namespace, ends: list[str]) -> None:
    from platforms.targets import contrast, table

    if options.json:
        print(json.dumps(made.to_value()))
    elif options.write:
        options.write.write_text(table.document(made), encoding="utf-8")
        print(f"wrote {options.write}")
    elif ends:
        print("\n".join(table.shortened(contrast.told(made, *ends), full=options.full)))
    else:
        print(f"{', '.join(made.compilers)}: compiled for what is not here; nothing was run\n")
        print(table.text(made, full=options.full))


def _read(file: Path) -> Audit:
    """Return the audit that ``--json`` printed into ``file``; raises OSError or ValueError."""
    from platforms.targets.audit import Audit

    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    try:
        return Audit.from_value(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} holds no audit of targets: {error!r}") from None


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
    parser.add_argument(
        "--read",
        type=Path,
        metavar="FILE",
        action="append",
        help="show what --json printed, instead of compiling; repeatable, the first that knows all of a kernel counts",
    )
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
