"""Why an output is not what it should be: ``python -m suites.explain --case LINE --implementation ID --platform P``.

The case is run once more, and golden recomputed under every cause of :mod:`golden.causes`; the table shows what each
makes of the error. Exit status: 0 if a cause explains the output or there is nothing to explain, 1 if none does, 2 for
wrong use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from golden.case import Case
from golden.causes import causes
from golden.emulation import Emulation
from golden.explanation import Explanation, explain
from golden.judge import Golden
from golden.precision import Precision
from kernels.operation import Operation
from suites.goldens import compute

MOST_ELEMENTS = 2**16
"""Elements of a result beyond which an explanation takes too long."""


def explained(
    operation: Operation,
    case: Case,
    outputs: Sequence[np.ndarray],
    *,
    precision: Precision | None = None,
) -> Explanation:
    """Return what explains ``outputs`` of ``case``, of the contract's ``precision`` or of another that is granted."""
    granted = precision or operation.precision(case.dtype)

    def evaluate(emulation: Emulation) -> dict[str, Golden]:
        return compute(operation, case, replace(granted, emulated=emulation))

    contract = compute(operation, case, granted)
    stored = [form.dtype for form in operation.results(case).values()]
    return explain(outputs, contract, causes(case.dtype, stored), evaluate)
