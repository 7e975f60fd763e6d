"""The causes in writing: which are tried, and what was said of drifts that were planted."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from golden.case import Case
from golden.causes import causes
from golden.explanation import DOUBT, MOST, PROMISING
from kernels.operation import Operation
from kernels.registry import load
from suites.causes import explained
from suites.meta.planted import UNEXPLAINED, Plant, plants
from suites.tables.markdown import document, table


@dataclass(frozen=True)
class _Kind:
    """One kind of drift: how many of its inputs were told the right cause, and what was said of the first."""

    name: str
    kernel: str
    known: bool
    right: int
    said: str
    before: str
    after: str


def planted(seen: Path, *, seeds: int, processes: int) -> str:
    """Return the document, from every planted drift on ``seeds`` inputs each; progress goes to standard error.

    The folder ``seen`` holds what ``python -m suites.explain --into`` wrote, also on other machines.
    """
    found = list(_tried(seeds, processes))
    known, unknown = (sum(one.right for one in found if one.known is known) for known in (True, False))
    with_cause, without = (seeds * sum(one.known is known for one in found) for known in (True, False))
    return document(
        "Causes",
        "Where an output is not what it should be, golden is computed anew under one cause after another: a step "
        "of the contract's formula is followed as one particular machine takes it, so that the value moves and the "
        "bounds stay tight. A cause explains the output if it is then within its bound, and so much closer than it "
        f"was that chance would not do it once in {1 / DOUBT:.0e} times, for all causes together "
        "(`golden/explanation.py`). The smallest set of causes counts; those that cannot be told apart are all named. "
        f"Sets of up to {MOST} are tried: the {PROMISING} best ones with each other cause. "
        "`python -m suites.explain --case LINE --implementation ID --platform NAME` shows what was tried. "
        "Where the profile of a platform names causes, they come before others that make the same, and the sentence "
        "says what was measured (`suites/measured.py`). Made by `python -m suites.tables causes`.",
        "## Drifts that were planted",
        f"On outputs of PyTorch's kernels, {seeds} inputs each. Of {with_cause} with a known cause {known} "
        f"({known / with_cause:.0%}) were given it; of {without} that must stay unexplained {unknown} "
        "were left so.",
        table(
            ["planted", "kernel", "right", "what was said of the first", "error / bound", "after"],
            [_row(one, seeds) for one in found],
        ),
        *_seen(seen),
        "## Causes that are tried",
        "Of float32 tensors; others have fewer, or their own.",
        table(["step", "how"], _steps()),
    )


def _seen(folder: Path) -> list[str]:
    """Return the section on drifts of kernels as they are; none without any."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    rows = [_explained(one) for one in found]
    headings = ["implementation", "platform", "of", "what was said", "error / bound", "after", "bit-equal"]
    intro = (
        "As `python -m suites.explain --into docs/explained` wrote it there; `--again docs/explained` makes anew what "
        "is of a machine's own platforms. What a profile measured beforehand is named with its words."
    )
    return ["## Drifts that were seen", intro, table(headings, rows)] if rows else []


def _explained(one: Mapping[str, Any]) -> list[str]:
    case = Case.parse(one["case"])
    said = one["cause"] or f"unexplained; nearest, and {one['verdict']}: {one['nearest']}"
    said += f"; measured of {'; '.join(one['evidence'])}" if one["evidence"] else ""
    dims = " x ".join(str(size) for size in case.dims.values())
    figures = (f"{float(share):.3g}" if share is not None else "-" for share in (one["share"], one["after"]))
    return [one["implementation"], one["platform"], f"{case.dtype}, {dims}", said, *figures, f"{one['equal']:.0%}"]


def _tried(seeds: int, processes: int) -> Iterator[_Kind]:
    pieces = [(number, seeds) for number, _ in enumerate(plants())]
    with get_context("spawn").Pool(processes, _open) as pool:
        for done, one in enumerate(pool.imap(_kind, pieces), start=1):
            print(f"causes: {done} of {len(pieces)}, {one.name}", file=sys.stderr, flush=True)
            yield one


_operations: dict[str, Operation] = {}


def _open() -> None:
    torch.set_num_threads(1)
    _operations.update(load().operations)


def _kind(piece: tuple[int, int]) -> _Kind:
    """Return what is said of one plant, which does not travel between processes, on several inputs."""
    number, seeds = piece
    plant: Plant = list(plants())[number]
    operation = _operations[plant.case.operation]
    several = [replace(plant, case=replace(plant.case, seed=seed)) for seed in range(seeds)]
    said = [explained(operation, one.case, one.outputs(operation)) for one in several]
    first = said[0]
    return _Kind(
        name=plant.kind,
        kernel=f"{plant.case.operation}, {plant.case.dtype}",
        known=plant.expected != UNEXPLAINED,
        right=sum(one.right(found) for one, found in zip(several, said, strict=True)),
        said=first.name or "unexplained",
        before=f"{first.before.share:.3g}",
        after=f"{first.found[0].verdict.share:.3g}" if first.found else "-",
    )


def _row(kind: _Kind, seeds: int) -> list[str]:
    count = f"{kind.right} of {seeds}" if kind.right == seeds else f"**{kind.right} of {seeds}**"
    return [kind.name, kind.kernel, count, kind.said, kind.before, kind.after]


def _steps() -> list[list[str]]:
    ways: dict[str, list[str]] = defaultdict(list)
    for cause in causes("float32", ["float32"]):
        ways[cause.what].append(cause.how)
    return [[what, "; ".join(hows)] for what, hows in ways.items()]
