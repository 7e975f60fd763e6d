"""A search for a failing case and, once there is one, for the smallest: Hypothesis, bounded in time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from golden.case import Case
from reports.record import VERDICTS, Record, outcome
from suites.batches import batches

SHRINK_SECONDS = 60.0
"""How long a failure is made smaller by default."""

_HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


class Failure(AssertionError):
    """A record that does not pass, raised so that Hypothesis makes its case smaller."""


_FAILURES = {verdict: type(verdict.title().replace(" ", ""), (Failure,), {}) for verdict in VERDICTS}
"""A class for each verdict: Hypothesis makes the case of each smaller apart, so that a crash stays a crash."""


class Search:
    """One search. No failing case is run twice, and failures that take long (hangs) end the shrinking early.

    Args:
        run_one: runs and records a case.
        drawn: what cases come from, by the number of the batch.
        examples: how many cases to try.
        seconds: how long a failure is made smaller; after that what is smallest so far is the answer.
        digest: seeds a derandomized search: the same digest, strategy and number give the same cases.
    """

    def __init__(
        self,
        run_one: Callable[[Case], Record],
        drawn: Callable[[int], SearchStrategy[Case]],
        *,
        examples: int,
        digest: str,
        seconds: float = SHRINK_SECONDS,
    ) -> None:
        self._run_one = run_one
        self._drawn = drawn
        self._examples = examples
        self._digest = digest
        self._seconds = seconds
        self._failures: dict[str, Record] = {}
        self._smallest: dict[str, Record] = {}
        self._passed: set[str] = set()
        self._deadline = float("inf")

    def failure(self, *, shrink: bool) -> Record | None:
        """Return the record that failed with the worst verdict, its case made small if ``shrink``; None for none."""
        for number, examples in batches(self._examples):
            digest = f"{self._digest}:{number}" if number else self._digest
            self._search(self._drawn(number), examples, digest, shrink=shrink)
            if self._smallest:
                break
        return max(self._smallest.values(), key=lambda record: VERDICTS.index(record.verdict), default=None)

    def _search(self, drawn: SearchStrategy[Case], examples: int, digest: str, *, shrink: bool) -> None:
        # Phase.explain would run a hundred more cases to say which parts of the smallest one matter.
        wanted = {Phase.reuse, Phase.generate, Phase.target} | ({Phase.shrink} if shrink else set())

        @settings(
            max_examples=examples,
            phases=[phase for phase in settings().phases if phase in wanted],
            suppress_health_check=_HEALTH,
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(case=drawn)
        def check(case: Case) -> None:
            self._check(case)

        # Without this, Hypothesis would seed every search here alike, with the name that they share.
        inner = check.hypothesis.inner_test  # type: ignore[attr-defined]
        inner._hypothesis_internal_add_digest = digest.encode()
        with contextlib.suppress(Failure, Flaky):
            check()

    def _check(self, case: Case) -> None:
        if case.line in self._passed:
            return
        record = self._failures.get(case.line)
        if record is None:
            if time.monotonic() > self._deadline:
                return  # out of time: nothing smaller is found any more, so the shrinking ends
            record = self._run_one(case)
        if outcome(record) == "fail":
            self._deadline = min(self._deadline, time.monotonic() + self._seconds)
            self._failures[case.line] = self._smallest[record.verdict] = record
            raise _FAILURES[record.verdict](case.line)
        self._passed.add(case.line)
