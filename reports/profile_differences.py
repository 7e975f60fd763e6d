"""Which questions of their profiles the places of a fleet answer differently; flagged where they are one platform's.

A place is a platform, with its machine where several machines have one of that name. Questions are compared that were
put to the same thing, a paradigm's own arithmetic or an implementation, on two places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.ink import clip, counted, plain
from reports.profile import profiles

_SHOWN = 30
_LONGEST = 40
_ERROR = "error of "

Question = tuple[str, str, str]
"""What was asked, such as ``gemm/torch/eager``, on which topic, and of which dtype or conversion."""


@dataclass(frozen=True)
class Apart:
    """A question that is not answered alike everywhere: the answers by place."""

    question: Question
    answers: Mapping[str, str]

    @property
    def flagged(self) -> bool:
        """Whether machines differ that have the same platform."""
        of_platform: dict[str, set[str]] = defaultdict(set)
        for place, answer in self.answers.items():
            of_platform[place.partition("@")[0]].add(answer)
        return any(len(answers) > 1 for answers in of_platform.values())


@dataclass(frozen=True)
class Comparison:
    """The profiles of a fleet, compared: its places, how many questions two of them answer, and what is apart."""

    places: tuple[str, ...]
    asked: int
    apart: tuple[Apart, ...]
    answers: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    """All answers, by place."""

    @property
    def flagged(self) -> int:
        """How many questions machines of one platform answer differently."""
        return sum(one.flagged for one in self.apart)


def compared(runs: Iterable[tuple[str, Mapping[str, Any]]]) -> Comparison:
    """Return the comparison of ``runs``, each a machine and an environment; of a place the last run counts.

    Raises BundleError for a profile that is not what runs write.
    """
    found = {(name, machine): one["answers"] for machine, facts in runs for name, one in profiles(facts).items()}
    names = [name for name, _ in found]
    cells: dict[Question, dict[str, str]] = defaultdict(dict)
    told: dict[str, Sequence[Mapping[str, str]]] = {}
    for (name, machine), answers in found.items():
        place = f"{name}@{machine}" if names.count(name) > 1 else name
        told[place] = answers
        for one in answers:
            cells[one["machine"], one["topic"], one["subject"]][place] = plain(one["answer"])
    shared = {question: row for question, row in cells.items() if len(row) > 1}
    apart = [Apart(question, row) for question, row in shared.items() if len(set(row.values())) > 1]
    apart.sort(key=lambda one: (not one.flagged, one.question[1].startswith(_ERROR)))
    places = dict.fromkeys(place for row in cells.values() for place in row)
    return Comparison(tuple(places), len(shared), tuple(apart), told)


def summed_up(comparison: Comparison) -> str:
    """Return a line on how much is apart; "" where nothing was asked on two places."""
    if not comparison.asked:
        return ""
    asked = counted(comparison.asked, "question")
    flagged = f"; FLAGGED: {comparison.flagged} between machines of one platform" if comparison.flagged else ""
    return f"{len(comparison.apart)} of {asked} on how platforms compute have answers that differ{flagged}"


def render(comparison: Comparison, *, full: bool = False) -> str:
    """Return the questions that are answered differently, by place, and a line that sums them up."""
    if not comparison.asked:
        return "no two places have been asked the same on how they compute"
    shown = comparison.apart if full else comparison.apart[:_SHOWN]
    body = [
        [
            *(plain(part) for part in one.question),
            *(clip(one.answers.get(place, ""), 999 if full else _LONGEST) for place in comparison.places),
            "FLAGGED" if one.flagged else "",
        ]
        for one in shown
    ]
    lines = [tabulate(body, ["asked", "question", "of", *comparison.places, ""], disable_numparse=True)] if body else []
    if len(shown) < len(comparison.apart):
        lines.append(f"and {len(comparison.apart) - len(shown)} more; --full shows them")
    return "\n".join([*lines, "", summed_up(comparison)]).lstrip("\n")
