"""May a library move from one place to another? A verdict for each operation, from what each implementation does there.

An implementation moves if it passes at both ends and nothing unexplained drifted on the way; a drift that something
accounts for is said. What fails only at the target holds it back. What fails at the origin too says nothing of the
move, and what was not run at the target is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports.compare import Carried
from reports.fleet.cells import FleetCell

ANSWERS = ("no", "unknown", "with drift", "yes")
"""What can be said of a move, the worst first."""


@dataclass(frozen=True)
class Move:
    """Whether one implementation may move between two places, and why, or why not."""

    implementation: str
    operation: str
    origin: str
    target: str
    answer: str
    reason: str


def moves(cells: Sequence[FleetCell], carried: Iterable[Carried]) -> Iterator[Move]:
    """Yield the move of each implementation that passes on a place to every other place, in either direction."""
    places = list(dict.fromkeys(cell.place for cell in cells))
    here = {(cell.implementation, cell.place): cell for cell in cells}
    ways = {(row.implementation, frozenset((row.origin, row.target))): row for row in carried}
    for cell in cells:
        for target in places:
            if target != cell.place and cell.outcome == "pass":
                way = ways.get((cell.implementation, frozenset((cell.place, target))))
                answer, reason = _answer(here.get((cell.implementation, target)), way)
                yield Move(cell.implementation, cell.operation, cell.place, target, answer, reason)


def of_operations(several: Iterable[Move]) -> dict[tuple[str, str, str], tuple[str, int, int]]:
    """Return by operation, origin and target the worst known answer, how many may move, and of how many.

    What was not run at the target leaves the answer to the others; "unknown" only where none was.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for move in several:
        found.setdefault((move.operation, move.origin, move.target), []).append(move.answer)
    return {way: _together(answers) for way, answers in found.items()}


def _answer(there: FleetCell | None, way: Carried | None) -> tuple[str, str]:
    if there is None or there.outcome == "none":
        return "unknown", there.message if there else "was not run there"
    if there.outcome == "fail":
        return "no", f"{there.verdict}: {there.cause or there.message}".rstrip(": ")
    if there.reasons:
        return "with drift", "; ".join(there.reasons)
    if way is None:
        return "yes", "passes at both ends, on other cases"
    equal = "bit for bit the same" if way.equal == 1 else f"{int(100 * way.equal)} % of cases bit for bit the same"
    return "yes", f"{way.cases} cases, {equal}"


def _together(answers: list[str]) -> tuple[str, int, int]:
    known = [answer for answer in answers if answer != "unknown"]
    moving = sum(answer in ("yes", "with drift") for answer in answers)
    return min(known, key=ANSWERS.index, default="unknown"), moving, len(answers)
