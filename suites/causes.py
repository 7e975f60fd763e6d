"""What explains an output of a case: golden of its operation, recomputed under every cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from golden.case import Case
from golden.causes import causes
from golden.emulation import Emulation
from golden.explanation import MOST, Explanation, explain
from golden.judge import Golden
from kernels.operation import Operation
from suites.goldens import compute


def explained(operation: Operation, case: Case, outputs: Sequence[np.ndarray], *, most: int = MOST) -> Explanation:
    """Return what explains ``outputs`` of ``case``: sets of up to ``most`` causes."""
    granted = operation.precision(case.dtype)

    def evaluate(emulation: Emulation) -> dict[str, Golden]:
        return compute(operation, case, replace(granted, emulated=emulation))

    stored = [form.dtype for form in operation.results(case).values()]
    tried = causes(case.dtype, stored)
    return explain(outputs, compute(operation, case, granted), tried, evaluate, most=most)


def at_once(operation: Operation) -> int:
    """Return how many causes at once are tried where there is little time: what is done to the operands of matrix
    products goes with how they are added up.
    """
    return 2 if operation.multiplies_matrices else 1
