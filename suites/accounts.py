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
from suites.goldens import Goldens, Standard

if TYPE_CHECKING:
    from platforms.pool import Pool
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
    if verdict.status == "drift" and _accumulates(subject, case) and _truncates(subject, case.dtype, pool):
        # Errors of one sign add up instead of averaging out, so the line for them is n, not the square root of n.
        return "measured: its accumulator truncates instead of rounding", verdict, None
    return "", verdict, None


def _accumulates(subject: Subject, case: Case) -> bool:
    return dtype_of(case.dtype).is_float and len(subject.operation.reduced_axes(case)) > 1


def _truncates(subject: Subject, dtype: str, pool: Pool) -> bool:
    answer = pool.call(
        subject.platform,
        "platforms.profile:accumulator",
        implementation=subject.implementation.id,
        dtype=dtype,
    )
    return answer["rounding"] == "truncated"
