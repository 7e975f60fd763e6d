"""What accounts for a drift: a declared precision, or a property of the platform that was measured.

A drift that nothing accounts for fails like a wrong result. What was accounted for is written into the record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golden.case import Case
from golden.dtypes import dtype_of
from golden.judge import Verdict, judge
from golden.precision import NUMERICS
from platforms.pool import Pool, WorkerError
from suites.goldens import Goldens, Standard

if TYPE_CHECKING:
    from suites.subject import Subject


def account(
    subject: Subject, case: Case, output: np.ndarray, verdict: Verdict, goldens: Goldens, pool: Pool
) -> tuple[str, Verdict, Standard | None]:
    """Return what accounts for ``verdict``, with the verdict and the standard under which it does; "" for nothing."""
    numerics = subject.implementation.numerics
    for standard in goldens.declared(subject.operation, case, numerics):
        relaxed = judge(standard.golden, output)
        if relaxed.passes:
            how = f", {standard.precision.operands[1]}" if standard.precision.operands else ""
            return f"declared numerics {numerics}: {NUMERICS[numerics]}{how}", relaxed, standard
    if not dtype_of(case.dtype).is_float or len(subject.operation.reduced_axes(case)) < 2:
        return "", verdict, None
    precision = subject.operation.precision(case.dtype).flushing(case.dtype)
    standard = goldens.under(subject.operation, case, precision)
    relaxed = judge(standard.golden, output)
    if relaxed.passes and _measured(subject, case.dtype, pool)["subnormals"] == "flushed":
        return "measured: its matrix products take subnormal numbers for zero", relaxed, standard
    if verdict.status == "drift" and _measured(subject, case.dtype, pool)["rounding"] == "truncated":
        # Errors of one sign add up instead of averaging out, so the line for them is n, not the square root of n.
        return "measured: its accumulator truncates instead of rounding", verdict, None
    return "", verdict, None


def _measured(subject: Subject, dtype: str, pool: Pool) -> dict[str, str]:
    """Return what the probes of matrix products say of the implementation; probes that fail say nothing."""
    try:
        return pool.call(
            subject.platform, "platforms.profile:matrix_product", implementation=subject.implementation.id, dtype=dtype
        )
    except WorkerError as error:
        return {"subnormals": "unknown", "rounding": "unknown", "error": str(error)}
