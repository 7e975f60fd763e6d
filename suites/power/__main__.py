"""Measure what the suite notices, and write docs/power.md: ``python -m suites.power`` goes on where it stopped."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from kernels.registry import load
from suites.meta.mutants import FOLDER, faults
from suites.options import ROOT
from suites.power.alarms import Alarms, alarms
from suites.power.page import page
from suites.power.parallel import Piece, trials
from suites.power.trial import Trial
from suites.subject import Selection

KINDS = ("suite", "peers", "smallest", "right", "again")
"""What is tried: the suite on cases of many seeds, others' ways, and the smallest cases; correct kernels, and what
bundles say they were refused for."""

PAGE = ROOT / "docs" / "power.md"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the pieces that are not there yet, and print or write the page that all of them make."""
    asked = _parsed(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    found = asked.out / "trials.jsonl"
    catalogue = load([FOLDER])
    wrong = faults(catalogue.implementations)
    counted = sum((alarms(bundle, wrong) for bundle in asked.bundles), Alarms())
    known = _known([*asked.trials, found])
    pieces = [piece for piece in _pieces(asked, sorted(catalogue.operations), counted.refused) if piece not in known]
    if pieces:
        _run(pieces, asked, found)
    everything = [trial for trials in _known([*asked.trials, found]).values() for trial in trials]
    text = page(
        [trial for trial in everything if trial.kernel in catalogue.implementations], wrong, counted, asked.note
    )
    if asked.write:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    else:
        print(text)


def _pieces(asked: argparse.Namespace, operations: Sequence[str], refused: Sequence[str]) -> list[Piece]:
    """Return what there is to do: first what a short run should have."""
    chosen = asked.operation or operations
    once = [("suite", 0), ("peers", 0), ("smallest", 0), ("right", 0)]
    again = [(kind, seed) for seed in range(1, asked.seeds) for kind in ("suite", "right")]
    pieces = [(kind, name, seed) for kind, seed in once + again for name in chosen]
    pieces += [("again", one, 0) for one in refused]
    return [piece for piece in pieces if piece[0] in (asked.only or KINDS)]


def _run(pieces: Sequence[Piece], asked: argparse.Namespace, found: Path) -> None:
    selection = Selection(
        platforms=tuple(asked.platform or ("cpu", "interpreter")),
        paradigms=tuple(asked.paradigm),
        implementations=tuple(asked.implementation),
    )
    made = trials(pieces, processes=asked.j, selection=selection, time_limit=asked.time_limit)
    with found.open("a", encoding="utf-8") as out:
        for number, (piece, results) in enumerate(made, 1):
            if results:  # what cannot be tried here may be elsewhere
                out.write(json.dumps({"piece": piece, "trials": [asdict(trial) for trial in results]}) + "\n")
                out.flush()
            print(f"{number}/{len(pieces)} {' '.join(map(str, piece))}: {len(results)} trials", flush=True)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m suites.power", description="what the suite notices, and how soon")
    parser.add_argument("--out", type=Path, default=ROOT / "reports" / "out" / "power", help="where trials are kept")
    parser.add_argument("--trials", nargs="*", default=[], type=Path, help="trials kept elsewhere: not tried again")
    parser.add_argument("--seeds", type=int, default=20, help="how often each kernel is tried (default 20)")
    parser.add_argument("--only", action="append", default=[], choices=KINDS, help="only these trials; repeatable")
    parser.add_argument("--operation", action="append", default=[], help="only this operation; repeatable")
    parser.add_argument("--platform", action="append", default=[], help="where (default: cpu and interpreter)")
    parser.add_argument("--paradigm", action="append", default=[], help="only kernels of this paradigm; repeatable")
    parser.add_argument("--implementation", action="append", default=[], help="only these kernels; repeatable")
    parser.add_argument("--note", default="", help="what the page is to say of these trials")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="processes (default: as many as cores)")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds that one call may take (default 30)")
    parser.add_argument("--bundles", nargs="*", default=[], type=Path, help="runs of correct kernels to count")
    parser.add_argument("--write", action="store_true", help="write the page to docs/ instead of printing it")
    return parser.parse_args(arguments)


def _known(files: Iterable[Path]) -> dict[Piece, list[Trial]]:
    """Return the trials of each piece in ``files``, one of each by a judge of a kernel on a platform: the first.

    A line that a killed process has torn is none.
    """
    known: dict[Piece, dict[tuple[str, str, str], Trial]] = {}
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else ():
            if line.endswith("\n"):
                value = json.loads(line)
                piece = known.setdefault(tuple(value["piece"]), {})
                for trial in (Trial(**one) for one in value["trials"]):
                    piece.setdefault((trial.by, trial.kernel, trial.platform), trial)
    return {piece: list(trials.values()) for piece, trials in known.items()}


if __name__ == "__main__":
    main()
