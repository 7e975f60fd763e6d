"""Why kernels fail: causes are looked for once for each implementation, platform, dtype and verdict of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from golden.case import Case
from golden.causes import Cause
from reports.record import Record
from suites.causes import Effort, at_once, explained, withstanding
from suites.drawn import drawn
from suites.subject import Subject

EVIDENCE = 2**10
"""Elements of a result that are evidence enough for its cause, and not too many to try all single ones."""

RECOMPUTED = 8000
"""How often one run recomputes golden in search of causes, about a minute's work, after which it looks no further."""

_SEARCHED = 2  # outputs on which all causes are tried; the others say whether what is found there holds
_OTHERS, _DRAWN = 4, 12  # failing cases besides those of the run, of so many that are drawn

Failing = Callable[[Subject, Case], "list[np.ndarray] | None"]
"""What a subject makes of a case: None if nothing is wrong with it, or if it cannot be looked at."""


class Inquiry:
    """The search for causes in one run, those that were ``measured`` first, with as much ``effort`` as it is given."""

    def __init__(self, failing: Failing, measured: Callable[[Subject, str], list[Cause]], effort: Effort) -> None:
        self._failing = failing
        self._measured = measured
        self._effort = effort
        self._known: dict[tuple[str, str, str], str] = {}

    def cause(self, subject: Subject, failure: Record, alike: Sequence[Record]) -> str:
        """Return what explains a ``failure`` in a sentence; "" if no failing output can be looked at.

        Records that fail ``alike`` are its evidence. A case that has been made small is little of it, so that a few
        drawn ones are looked at too.
        """
        if failure.verdict not in ("wrong", "drift"):
            return ""
        kind = subject.id, failure.dtype, failure.verdict
        if kind not in self._known:
            if self._effort.over:
                spent = f"golden was recomputed {self._effort.spent} times for others"
                return f"cause not looked for: {spent}; python -m suites.explain tries them"
            self._known[kind] = self._sentence(subject, self._evidence(subject, failure.dtype, alike))
        return self._known[kind]

    def _evidence(self, subject: Subject, dtype: str, alike: Sequence[Record]) -> list[tuple[Case, list[np.ndarray]]]:
        """Return failing cases with what comes of them, the largest first."""
        fitting = sorted((one for one in alike if 0 < one.elements <= EVIDENCE), key=lambda one: -one.elements)
        mine = [Case.parse(one.case) for one in fitting[:_SEARCHED]]
        others = drawn(subject.operation, _DRAWN, budget=EVIDENCE, dtype=dtype) if fitting else []
        made = ((case, self._failing(subject, case)) for case in dict.fromkeys([*mine, *others]))
        failing = ((case, outputs) for case, outputs in made if outputs and _size(outputs) <= EVIDENCE)
        found = list(islice(failing, len(mine) + _OTHERS))
        return sorted(found, key=lambda one: -_size(one[1]))

    def _sentence(self, subject: Subject, evidence: Sequence[tuple[Case, list[np.ndarray]]]) -> str:
        operation, effort = subject.operation, self._effort
        for searched in evidence[:_SEARCHED]:
            known = self._measured(subject, searched[0].dtype)
            said = explained(operation, *searched, measured=known, most=at_once(operation), effort=effort)
            holding = said.found
            for one in evidence:
                if one is not searched:
                    holding = withstanding(holding, operation, *one, effort=effort)
            if holding:
                return replace(said, found=holding).sentence
        return "unexplained" if evidence else ""


def _size(outputs: Sequence[np.ndarray]) -> int:
    return sum(output.size for output in outputs)
