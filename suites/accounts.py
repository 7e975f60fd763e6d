"""What accounts for a drift: a declared precision, or a property of the platform that was measured.

A drift that nothing accounts for fails like a wrong result. What was accounted for is written into the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from golden.case import Case
from golden.dtypes import dtype_of
from golden.judge import DRIFT, Verdict, judge_all
from golden.numerics import meaning
from platforms.platform import Platform
from platforms.pool import PlaceLost, Pool, WorkerError
from platforms.ranks.platform import Ranks
from suites.goldens import Goldens, Standard

if TYPE_CHECKING:
    from suites.subject import Subject

Account = tuple[str, Verdict, "Standard | None"]


def account(
    subject: Subject, case: Case, outputs: Sequence[np.ndarray], verdict: Verdict, goldens: Goldens, pool: Pool
) -> Account:
    """Return what accounts for ``verdict``, with the verdict and the standard under which it does; "" for nothing.

    Raises PlaceLost where the platform cannot be asked any more.
    """
    held = [(verdict, goldens.of(subject.operation, case), ""), *_declared(subject, case, outputs, goldens)]
    for relaxed, standard, said in held:
        if relaxed.passes:
            return said, relaxed, standard
    operation = subject.operation
    if not dtype_of(case.dtype).is_float or not (operation.multiplies_matrices or operation.scatters):
        return "", verdict, None
    precision = replace(operation.precision(case.dtype), flushed=case.dtype)
    standard = goldens.under(operation, case, precision)
    relaxed = judge_all(standard.goldens, outputs)
    if operation.scatters:
        if relaxed.passes and _scattered(subject, precision.compute, pool)["subnormals"] == "flushed":
            return "measured: the platform's additions in memory take subnormal numbers for zero", relaxed, standard
        return "", verdict, None
    if relaxed.passes and _measured(subject, case.dtype, pool)["subnormals"] == "flushed":
        return "measured: its matrix products take subnormal numbers for zero", relaxed, standard
    for relaxed, standard, said in held:
        if relaxed.status == DRIFT and _measured(subject, case.dtype, pool)["rounding"] == "truncated":
            # Errors of one sign add up instead of averaging out, so the line for them is n, not the square root of n.
            cut = "measured: its accumulator truncates instead of rounding"
            return "; ".join(filter(None, [said, cut])), relaxed, standard
    return "", verdict, None


def _declared(
    subject: Subject, case: Case, outputs: Sequence[np.ndarray], goldens: Goldens
) -> Iterator[tuple[Verdict, Standard, str]]:
    """Yield the verdict under each way to understand what the implementation declares, and that declaration."""
    numerics = subject.implementation.numerics
    for standard in goldens.declared(subject.operation, case, numerics):
        precision = standard.precision
        modes = [precision.operands.mode] if precision.operands and precision.operands.parts == 1 else []
        modes += [precision.accumulator.mode] if precision.accumulator else []
        how = f", {' and '.join(modes)}" if modes else ""
        yield judge_all(standard.goldens, outputs), standard, f"declared numerics {numerics}: {meaning(numerics)}{how}"


def _measured(subject: Subject, dtype: str, pool: Pool) -> dict[str, str]:
    """Return what the probes of matrix products say of the implementation; probes that fail say nothing."""
    target, implementation = "platforms.profile.products:matrix_product", subject.implementation
    if isinstance(subject.platform, Ranks):
        # What one rank does cannot be called by itself; it multiplies as its platform does.
        usual = f"gemm/{implementation.paradigm}/eager"
        return _asked(subject.platform.of, target, pool, implementation=usual, dtype=dtype)
    return _asked(subject.platform, target, pool, implementation=implementation.id, dtype=dtype)


def _scattered(subject: Subject, dtype: str, pool: Pool) -> dict[str, str]:
    """Return what the probe of additions in memory says of the platform; one that fails says nothing."""
    return _asked(subject.platform, "platforms.profile.scattering:scattered_sum", pool, dtype=dtype)


def _asked(platform: Platform, target: str, pool: Pool, **arguments: str) -> dict[str, str]:
    try:
        return pool.call(platform, target, **arguments)
    except PlaceLost:
        raise  # the drift of a correct kernel would stay unaccounted for
    except WorkerError as error:
        return {"subnormals": "unknown", "rounding": "unknown", "error": str(error)}
