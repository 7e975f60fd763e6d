"""Does an implementation keep to the contracts? Few cases, all of them on each; what breaks one is made smaller."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from golden.case import Case
from kernels import strategies
from platforms.paradigm import paradigm_of
from reports.record import Record
from reports.record import outcome as outcome_of
from suites.batches import turn
from suites.contracts.contract import PLAIN, Contract
from suites.contracts.refusals import stale_refusal
from suites.run import Run, worst
from suites.search import Search
from suites.subject import Subject

SPARSER = 10
"""How many times fewer cases there are than of equivalence, since each is run in many ways."""

BUDGET = 2**12
"""Elements of a tensor of a drawn case; what shows at larger sizes alone, a contract's own cases bring about."""


class Keeping:
    """Asks whether subjects keep to ``contracts``; a suite's way of asking."""

    def __init__(self, run: Run, contracts: Sequence[Contract]) -> None:
        self._run = run
        self._contracts = contracts

    def explore(self, subject: Subject, *, suite: str) -> Record | None:
        """Check every contract on drawn cases; return the record of the first that is broken, on its smallest case.

        The cases depend on the operation and the dtypes alone, so that golden results are there already for all but the
        first implementation. The dtypes share them.
        """
        lacking = self._run.lacking(subject)
        dtypes = [dtype for dtype in subject.dtypes if dtype not in lacking]
        if not dtypes:
            return self._run.explore(subject, suite=suite)
        broken: list[Record] = []
        intact = list(self._contracts)
        asked = _Asked(self._run, subject, suite)
        while intact:
            trial = _Trial(asked, intact)
            search = Search(
                trial,
                functools.partial(_cases, subject, dtypes),
                examples=1 if paradigm_of(subject.implementation.paradigm).costly else _examples(),
                digest=f"{suite}:{subject.operation.name}:{','.join(dtypes)}",
            )
            failure = search.failure(shrink=not broken)
            if failure is None:
                break
            broken.append(failure)
            if PLAIN in trial.contracts:
                break
            intact = [contract for contract in intact if contract not in trial.contracts]
        if stale := stale_refusal(self._run, subject, suite=suite):
            broken.append(stale)
        return _told(broken)

    def replay(self, subject: Subject, cases: Sequence[Case], *, suite: str) -> Record | None:
        """Check every contract on some of ``cases``; return the worst of the failing records, or None."""
        fit = [case for case in cases if case.dtype in subject.dtypes and case.dtype not in self._run.lacking(subject)]
        chosen = fit[:: -(-len(fit) // _examples())] if fit else []
        if not chosen:
            return self._run.replay(subject, cases, suite=suite)
        asked = _Asked(self._run, subject, suite)
        records = [asked.worst_of(one, case) for one in self._contracts for case in chosen]
        return _told([worst(records)] if any(outcome_of(record) == "fail" for record in records) else [])


class _Trial:
    """Checks contracts on one case after another; once one is broken, that one alone."""

    def __init__(self, asked: _Asked, contracts: Sequence[Contract]) -> None:
        self.contracts = list(contracts)
        self._asked = asked

    def __call__(self, case: Case) -> Record:
        for contract in self.contracts:
            record = self._asked.worst_of(contract, case)
            if outcome_of(record) == "fail":
                self.contracts = [contract]
                break
        return record


class _Asked:
    """What one subject was asked: no question twice, since several drawn cases may make the same of a contract."""

    def __init__(self, run: Run, subject: Subject, suite: str) -> None:
        self._run, self._subject, self._suite = run, subject, suite
        self._known: dict[tuple[str, str], Record] = {}

    def worst_of(self, contract: Contract, case: Case) -> Record:
        """Return the worst record of a contract on all that it makes of one case; in terms of that case."""
        records = [self._record(contract, one) for one in contract.cases(self._subject, case)]
        if records:
            return worst(records)
        reason = f"contract {contract.name}; there is no case of it"
        return self._run.leave_out(self._subject, case, suite=self._suite, reason=reason)

    def _record(self, contract: Contract, case: Case) -> Record:
        question = contract.name, case.line
        if question not in self._known:
            name = "" if contract is PLAIN else contract.name
            self._known[question] = self._run.one(
                self._subject, case, suite=self._suite, contract=name, checked=contract.checked
            )
        return self._known[question]


def _told(broken: Sequence[Record]) -> Record | None:
    if not broken:
        return None
    first, *others = broken
    notes = [f"broken too: {record.message}" for record in others]
    return replace(first, message="\n".join([first.message, *notes]))


def _examples() -> int:
    return max(1, settings().max_examples // SPARSER)


def _cases(subject: Subject, dtypes: Sequence[str], number: int) -> SearchStrategy[Case]:
    budget = min(BUDGET, subject.platform.budget)
    drawn = st.sampled_from(dtypes).flatmap(
        lambda dtype: strategies.cases(subject.operation, budget, dtype=dtype, turn=turn(0, number))
    )
    return drawn.filter(lambda case: max(form.size for form in subject.operation.forms(case).values()) > 1)
