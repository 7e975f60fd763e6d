"""How tight the bounds are: error over bound of good implementations, element by element, over drawn cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from golden.case import Case
from golden.dtypes import decode, dtype_of
from golden.judge import Golden, judge
from platforms.platform import Platform
from platforms.pool import Pool
from suites.drawn import drawn
from suites.goldens import Goldens
from suites.run import mismatch
from suites.subject import Subject
from suites.tables.markdown import EMPTY, Page, document, table

LOOSE = 0.01
"""A bound whose median share is below this wants a better analysis, or an explanation."""

_MOST = 4096  # elements of one output that enter the distribution, so that no case outweighs the others


@dataclass
class Distribution:
    """The shares of one implementation's errors for one dtype; exact elements, which have no bound, are counted."""

    shares: list[np.ndarray] = field(default_factory=list)
    cases: int = 0
    exact: int = 0
    beyond: int = 0

    def add(self, golden: Golden, output: np.ndarray) -> None:
        """Count one output; one that does not pass counts as beyond the bound, and its elements do not enter."""
        self.cases += 1
        if not judge(golden, output).passes:
            self.beyond += 1
            return
        with np.errstate(invalid="ignore"):  # inf - inf, which is not judged
            error = np.abs((decode(output, golden.dtype) - golden.value) - golden.tail)
        # What overflows is judged by the same bounds, but has no error to speak of.
        judged = np.isfinite(golden.value) & np.isfinite(golden.drift) & np.isfinite(error)
        rounded = judged & (golden.drift > 0)
        self.exact += int((judged & ~rounded).sum())
        shares = (
            np.maximum(error[rounded] - np.broadcast_to(golden.radius, error.shape)[rounded], 0) / golden.drift[rounded]
        )
        self.shares.append(shares[:: max(1, shares.size // _MOST)].astype(np.float32))

    def row(self) -> list[str]:
        """Return cases, elements with a bound, median, 99.9 %, and largest share, and how many cases went beyond."""
        shares = np.concatenate(self.shares) if self.shares else np.zeros(0, np.float32)
        beyond = str(self.beyond or "")
        if not shares.size:
            return [str(self.cases), "exact" if self.exact else "0", "-", "-", "-", beyond]
        median, tail = np.quantile(shares, [0.5, 0.999])
        mark = "**" if 0 < median < LOOSE else ""
        return [
            str(self.cases),
            f"{shares.size}",
            f"{mark}{median:.3f}{mark}",
            f"{tail:.3f}",
            f"{shares.max():.3f}",
            beyond,
        ]


HEADERS = ("implementation", "dtype", "cases", "elements", "median", "99.9 %", "largest", "beyond")


def tightness(
    subjects: Sequence[Subject], platform: Platform, pool: Pool, *, cases: int, budget: int, page: Page = EMPTY
) -> str:
    """Return the document for the implementations that run on ``platform``; other rows are those of ``page``."""
    rows = [*page.rows(HEADERS), *_rows(subjects, pool, cases, min(budget, platform.budget))]
    rows.sort(key=lambda row: row[0])
    return document(
        f"Tightness of the bounds on {platform.name}",
        "Error over drift bound of each element, over drawn cases: below 1 always, and a median under 1/100 (bold) "
        "wants a better analysis of the contract. What is stored in a dtype narrower than it is computed in has half a "
        "unit of the last place in its bound, and comes close to it. Implementations that declare other numerics than "
        "the contract's are left out. Made by `python -m suites.tables tightness`.",
        table(HEADERS, rows),
        "A median below 1/100 has one of four reasons. Results that are exact more often than not, as most float32 "
        "sums of two are, have a median of 0, and a bound of half a unit that is reached. Sums (gemm, the norms, "
        "attention) are granted one rounding after another, in any order; libraries add in blocks, and err by a "
        "tenth of that. Functions may be off by what the OpenCL table says, all to one side (docs/precision.md), which "
        "adds up over the terms of a softmax; libraries round theirs to a unit or less, to either side. And where a "
        "function's argument is uncertain (attention's scores, of large operands), its bound is that of the worst of "
        "all elements that it shares a sum with.",
    )


def _rows(subjects: Sequence[Subject], pool: Pool, cases: int, budget: int) -> Iterator[list[str]]:
    goldens = Goldens()
    for subject in subjects:
        for dtype in subject.dtypes:
            if not dtype_of(dtype).is_float:
                continue
            found = Distribution()
            for case in drawn(subject.operation, cases, budget=budget, dtype=dtype):
                _measure(subject, case, goldens, pool, found)
            yield [subject.implementation.id, dtype, *found.row()]


def _measure(subject: Subject, case: Case, goldens: Goldens, pool: Pool, found: Distribution) -> None:
    ran = pool.run(subject.platform, subject.implementation.id, case)
    if ran.status == "returned" and not mismatch(subject, case, ran):
        for golden, result in zip(goldens.of(subject.operation, case).goldens.values(), ran.results, strict=True):
            if dtype_of(golden.dtype).is_float:
                found.add(golden, result.array)
