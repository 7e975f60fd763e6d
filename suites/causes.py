"""What explains an output of a case: golden of its operation, recomputed under every cause."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from golden.case import Case
from golden.causes import Cause, causes
from golden.emulation import Emulation, TooLongError
from golden.explanation import MOST, Evaluate, Explanation, Trial, explain
from golden.judge import Golden, judge_all
from kernels.operation import Operation
from suites.goldens import evaluate, inputs


@dataclass
class Effort:
    """How often golden may be recomputed in search of causes, and has been: what is begun is done to its end.

    Counted, and not timed, so that every machine finds the same however busy it is.
    """

    most: float = math.inf
    spent: int = 0

    @property
    def over(self) -> bool:
        """Whether no other output is looked into."""
        return self.spent >= self.most


def explained(
    operation: Operation,
    case: Case,
    outputs: Sequence[np.ndarray],
    *,
    measured: Sequence[Cause] = (),
    most: int = MOST,
    effort: Effort | None = None,
) -> Explanation:
    """Return what explains ``outputs`` of ``case``: sets of up to ``most`` causes, with ``effort`` noted.

    Causes that were ``measured`` come before all others, which include none that does the same.
    """
    stored = [form.dtype for form in operation.results(case).values()]
    known = {one.emulation for one in measured}
    others = [one for one in causes(case.dtype, stored) if one.emulation not in known]
    contract, recomputed = _goldens(operation, case, effort or Effort())
    return explain(outputs, contract, [*measured, *others], recomputed, most=most)


def withstanding(
    found: Iterable[Trial], operation: Operation, case: Case, outputs: Sequence[np.ndarray], *, effort: Effort
) -> tuple[Trial, ...]:
    """Return which of ``found`` make ``outputs`` of another ``case`` right too, which are wrong without them."""
    _, recomputed = _goldens(operation, case, effort)

    def passes(emulation: Emulation) -> bool:
        try:
            return judge_all(recomputed(emulation), outputs).passes
        except TooLongError:
            return False

    return tuple(trial for trial in found if any(passes(emulation) for emulation in trial.emulations))


def at_once(operation: Operation) -> int:
    """Return how many causes at once are tried where there is little time: what is done to the operands of matrix
    products goes with how they are added up.
    """
    return 2 if operation.multiplies_matrices else 1


def _goldens(operation: Operation, case: Case, effort: Effort) -> tuple[dict[str, Golden], Evaluate]:
    """Return the contract's golden results of ``case``, and what recomputes them under an emulation."""
    granted, (_, values) = operation.precision(case.dtype), inputs(operation, case)

    def recomputed(emulation: Emulation) -> dict[str, Golden]:
        effort.spent += 1
        return evaluate(operation, case, replace(granted, emulated=emulation), values)

    return evaluate(operation, case, granted, values), recomputed
