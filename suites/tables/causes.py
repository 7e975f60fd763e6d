"""The causes in writing: which are tried, and what was said of drifts that were planted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from golden.causes import causes
from golden.explanation import DOUBT, MOST, PROMISING, Explanation
from kernels.operation import Operation
from suites.causes import explained
from suites.meta.planted import UNEXPLAINED, Plant, plants
from suites.tables.markdown import document, table


def planted(operations: Mapping[str, Operation], *, seeds: int) -> str:
    """Return the document, from every planted drift on ``seeds`` inputs each."""
    found: dict[str, list[tuple[Plant, Explanation]]] = defaultdict(list)
    for plant in plants(seeds):
        operation = operations[plant.case.operation]
        found[plant.kind].append((plant, explained(operation, plant.case, plant.outputs(operation))))
    everything = [one for several in found.values() for one in several]
    known = [plant.right(said) for plant, said in everything if plant.expected != UNEXPLAINED]
    unknown = [plant.right(said) for plant, said in everything if plant.expected == UNEXPLAINED]
    return document(
        "Causes",
        "Where an output is not what it should be, golden is computed anew under one cause after another: a step "
        "of the contract's formula is followed as one particular machine takes it, so that the value moves and the "
        "bounds stay tight. A cause explains the output if it is then within its bound, and so much closer than it "
        f"was that chance would not do it once in {1 / DOUBT:.0e} times, for all causes together "
        "(`golden/explanation.py`). The smallest set of causes counts; those that cannot be told apart are all named. "
        f"Sets of up to {MOST} are tried: the {PROMISING} best ones with each other cause. "
        "`python -m suites.explain --case LINE --implementation ID --platform NAME` shows what was tried. "
        "Made by `python -m suites.tables causes`.",
        "## Drifts that were planted",
        f"On outputs of PyTorch's kernels, {seeds} inputs each. Of {len(known)} with a known cause {sum(known)} "
        f"({sum(known) / len(known):.0%}) were given it; of {len(unknown)} that must stay unexplained {sum(unknown)} "
        "were left so.",
        table(
            ["planted", "kernel", "right", "what was said of the first", "error / bound", "after"],
            [_row(kind, several) for kind, several in found.items()],
        ),
        "## Causes that are tried",
        "Of float32 tensors; others have fewer, or their own.",
        table(["step", "how"], _steps()),
    )


def _row(kind: str, several: list[tuple[Plant, Explanation]]) -> list[str]:
    plant, said = several[0]
    right = sum(plant.right(said) for plant, said in several)
    after = f"{said.found[0].verdict.share:.3g}" if said.found else "-"
    count = f"{right} of {len(several)}" if right == len(several) else f"**{right} of {len(several)}**"
    kernel = f"{plant.case.operation}, {plant.case.dtype}"
    return [kind, kernel, count, said.name or "unexplained", f"{said.before.share:.3g}", after]


def _steps() -> list[list[str]]:
    ways: dict[str, list[str]] = defaultdict(list)
    for cause in causes("float32", ["float32"]):
        ways[cause.what].append(cause.how)
    return [[what, "; ".join(hows)] for what, hows in ways.items()]
