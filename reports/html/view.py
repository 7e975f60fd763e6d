"""What the HTML document shows, put in rows: the matrix of results, the moves between places, profiles side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from reports.audit import Audit
from reports.fleet.cells import FleetCell
from reports.ink import figure, plain
from reports.moving import ANSWERS
from reports.places import machines as reached
from reports.profile import profiles

_PICTURES = 12
_STATES = ("fail", "drift", "pass", "none")


@dataclass(frozen=True)
class Cell:
    """One implementation on one place: its anchor, what it is in a word and in a few, and all there is to say of it.

    ``state`` is "pass", "drift", "fail", or "none" for what was not judged.
    """

    anchor: str
    state: str
    word: str
    detail: FleetCell
    errors: tuple[int, ...]
    history: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """One implementation: its cells by place, None where it was not run, and its worst state."""

    implementation: str
    operation: str
    state: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Matrix:
    """Implementations by places, and how many cells are in which state."""

    rows: tuple[Row, ...]
    states: dict[str, int]
    operations: tuple[str, ...]

    @classmethod
    def of(cls, audit: Audit) -> Matrix:
        """Return the matrix of an audit: those that fail first, then by name."""
        started = {run.number: plain(run.started) for run in audit.runs}
        past: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for one in audit.history:
            past.setdefault((one.implementation, one.place), []).append((started[one.run], one.verdict))
        here: dict[str, dict[str, Cell]] = {}
        for number, cell in enumerate(audit.cells):
            where = cell.implementation, cell.place
            here.setdefault(cell.implementation, {})[cell.place] = Cell(
                anchor=f"cell-{number}",
                state=_state(cell),
                word=_word(cell),
                detail=cell,
                errors=audit.errors.get(where, ()),
                history=tuple(past.get(where, ())),
            )
        rows = [_row(name, cells, audit.places) for name, cells in here.items()]
        rows.sort(key=lambda row: (row.state != "fail", row.implementation))
        states = Counter(cell.state for row in rows for cell in row.cells if cell)
        operations = sorted({row.operation for row in rows})
        return cls(tuple(rows), {name: states[name] for name in _STATES}, tuple(operations))


@dataclass(frozen=True)
class Failure:
    """What fails in the same words: one verdict, message and cause, and the cells that it is of."""

    verdict: str
    message: str
    cause: str
    cells: tuple[FleetCell, ...]


def failures(audit: Audit) -> list[Failure]:
    """Return what fails, the worst first, those together that say the same."""
    alike: dict[tuple[str, str, str], list[FleetCell]] = {}
    for cell in audit.failures:
        alike.setdefault((cell.verdict, cell.message, cell.cause), []).append(cell)
    return [Failure(*said, tuple(cells)) for said, cells in alike.items()]


@dataclass(frozen=True)
class Moves:
    """From which place to which operations may move: for each origin its targets, and rows of answers to each.

    ``summary`` has for each origin, and all places as its targets, how many operations have which answer, and the worst
    of the answers that are known; "" where there is none.
    """

    origins: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, tuple[tuple[str, str], ...]], ...]], ...]
    summary: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @classmethod
    def of(cls, audit: Audit) -> Moves:
        """Return the moves of an audit."""
        found, operations = audit.operations, sorted({operation for operation, _, _ in audit.operations})
        origins, summary = [], []
        for origin in audit.places:
            targets = tuple(place for place in audit.places if place != origin)
            rows = []
            for operation in operations:
                ways = [found.get((operation, origin, target), ("", 0, 0)) for target in targets]
                if any(answer for answer, _, _ in ways):
                    rows.append(
                        (operation, tuple((answer, f"{may} of {of}" if of else "") for answer, may, of in ways))
                    )
            if rows and targets:
                origins.append((origin, targets, tuple(rows)))
                summary.append((origin, tuple(_summed(audit, origin, target) for target in audit.places)))
        return cls(tuple(origins), tuple(summary))


def _summed(audit: Audit, origin: str, target: str) -> tuple[str, str]:
    """Return how many operations have which answer on a way, and the worst that is known."""
    counts = Counter(answer for (_, *way), (answer, _, _) in audit.operations.items() if way == [origin, target])
    known = [answer for answer in ANSWERS if counts[answer] and answer != "unknown"]
    said = ", ".join(f"{counts[answer]} {answer}" for answer in reversed(ANSWERS) if counts[answer])
    return said, known[0] if known else "unknown" if counts else ""


@dataclass(frozen=True)
class Question:
    """One question of a profile, and the answer in each column; "" where it was not asked."""

    topic: str
    subject: str
    answers: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether two answers differ."""
        return len({answer for answer in self.answers if answer}) > 1


@dataclass(frozen=True)
class Profiles:
    """Questions by columns, each a place and who was asked there, and summation trees, each with what it is of.

    ``broken`` are rules that an answer breaks, each with the place and who was asked.
    """

    columns: tuple[tuple[str, str], ...]
    questions: tuple[Question, ...]
    trees: tuple[tuple[str, str], ...]
    broken: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, audit: Audit) -> Profiles:
        """Return the profiles of an audit, of each place that of its last run; raises BundleError."""
        latest = dict(_profiles(audit))
        columns: dict[tuple[str, str], None] = {}
        asked: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
        trees: dict[str, str] = {}
        broken = []
        for place in audit.places:
            answers = latest.get(place, [])
            asker = _askers(answers)
            for one in answers:
                column, answer = (place, plain(asker[one["machine"]])), plain(one["answer"])
                columns[column] = None
                broken += [(place, plain(one["machine"]), plain(one["breaks"]))] if one["breaks"] else []
                asked.setdefault((plain(one["topic"]), plain(one["subject"])), {})[column] = answer
                evidence = one.get("evidence")
                if one["topic"].startswith("order of") and one["subject"] == "float32" and isinstance(evidence, dict):
                    caption = f"{place}, {plain(one['machine'])}: {answer}"
                    trees.setdefault(caption, str(evidence.get("tree", "")))
        questions = (
            Question(*question, tuple(answers.get(column, "") for column in columns))
            for question, answers in asked.items()
        )
        return cls(tuple(columns), tuple(questions), tuple(trees.items())[:_PICTURES], tuple(broken))


def _askers(answers: list[dict[str, str]]) -> dict[str, str]:
    """Return who each machine answers for: the first of an operation for its paradigm, the others for themselves."""
    first: dict[str, str] = {}
    found = {}
    for machine in dict.fromkeys(one["machine"] for one in answers):
        operation, _, rest = machine.partition("/")
        paradigm = rest.partition("/")[0]
        lead = first.setdefault(f"{operation}/{paradigm}", machine)
        found[machine] = paradigm if rest and lead == machine else machine
    return found


def _profiles(audit: Audit) -> Iterator[tuple[str, list[dict[str, str]]]]:
    for run in sorted(audit.runs, key=lambda run: run.started):
        for platform, profile in profiles(run.environment).items():
            apart = f"{platform}@{run.machine}"
            yield apart if apart in audit.places else platform, profile["answers"]


def machines(audit: Audit) -> Iterator[tuple[str, ...]]:
    """Yield name, start, Python, torch, Triton, revision and run of each machine, those behind gateways included."""
    for run in audit.runs:
        for name, facts in reached(run.environment):
            packages = facts.get("packages")
            versions = packages if isinstance(packages, dict) else {}
            said = (facts.get("python", ""), versions.get("torch", ""), versions.get("triton", ""))
            revision = run.environment.get("portolan", "")
            yield tuple(plain(str(one)) for one in (name, run.started, *said, revision, run.id))


def _row(name: str, cells: dict[str, Cell], places: list[str]) -> Row:
    states = {cell.state for cell in cells.values()}
    worst = next(state for state in _STATES if state in states)
    return Row(name, name.partition("/")[0], worst, tuple(cells.get(place) for place in places))


def _state(cell: FleetCell) -> str:
    return "drift" if cell.outcome == "pass" and cell.reasons else cell.outcome


def _word(cell: FleetCell) -> str:
    if cell.outcome == "fail":
        return f"{cell.verdict} ({cell.failed} of {cell.ran})"
    if cell.outcome == "none":
        return cell.verdict
    return cell.verdict if cell.verdict == "exact" or not cell.share else f"{cell.verdict} {figure(cell.share)}"
