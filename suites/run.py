"""The loop that every suite shares: draw a case, run it on a platform, judge the output, record the verdict."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis.strategies import SearchStrategy

from golden.case import Case
from golden.causes import Cause
from golden.dtypes import decode
from golden.judge import Verdict, judge_all
from kernels import strategies
from platforms.narrowed import is_narrowed
from platforms.outcome import Outcome, Result
from platforms.paradigm import paradigm_of
from platforms.platform import Platform
from platforms.pool import GatewayLost, PlaceLost, Pool
from reports.bundle import Bundle
from reports.profile import PREFIX as PROFILE
from reports.record import VERDICTS, Record
from reports.record import outcome as outcome_of
from suites.accounts import account
from suites.batches import turn
from suites.causes import Effort
from suites.goldens import Goldens, Standard
from suites.inquiry import RECOMPUTED, Inquiry
from suites.measured import measured
from suites.search import SHRINK_SECONDS, Search
from suites.subject import Subject

SHORT_LIMIT = {False: 2.0, True: 20.0}
"""Seconds that a case may take, at least, once its implementation has hung before; longer where it is compiled."""

LEAST_CASES = 6
"""Cases that every dtype gets, however many there are, where that many are asked for in all."""

COSTLY = 6
"""How many times fewer cases a paradigm gets whose every case is built anew."""


class Run:
    """One run over this machine: where its cases are executed, judged and recorded."""

    def __init__(
        self,
        *,
        pool: Pool,
        bundle: Bundle,
        replay_options: str = "",
        shrink_seconds: float = SHRINK_SECONDS,
        profile: Callable[[Platform], dict[str, Any] | None] = lambda platform: None,
        effort: Effort | None = None,
    ) -> None:
        self.pool = pool
        self.bundle = bundle
        self.replay_options = replay_options
        self.shrink_seconds = shrink_seconds
        self.goldens = Goldens()
        self.lacks: dict[str, dict[str, str]] = {}
        self._measure = profile
        self._profiles: dict[str, dict[str, Any] | None] = {}
        self.latest: list[Record] = []
        self._inquiry = Inquiry(self._failing, self.measured, effort or Effort(RECOMPUTED))
        self._slowest: dict[str, float] = {}
        self._patience: dict[str, float] = {}
        self._remaining: dict[tuple[str, str, str], Record] = {}

    def lacking(self, subject: Subject) -> dict[str, str]:
        """Return the dtypes that the subject's platform cannot do, with the reason; asked once a platform."""
        platform, paradigm = subject.platform, subject.implementation.paradigm
        with contextlib.suppress(PlaceLost):
            self._meet(platform)
        if lost := self.pool.why_lost(platform):
            return dict.fromkeys(subject.dtypes, lost)
        known = self.lacks[platform.name]
        keys = {dtype: (paradigm, f"{paradigm}/{dtype}", dtype) for dtype in subject.dtypes}
        reasons = {dtype: next((known[key] for key in tried if key in known), "") for dtype, tried in keys.items()}
        return {dtype: reason for dtype, reason in reasons.items() if reason}

    def _without(self, subject: Subject, case: Case) -> str:
        """Return which tensor of ``case`` the subject's platform cannot hold, with the reason, or "".

        One whose numbers it keeps with fewer bits, it can: what comes of that is judged.
        """
        self.lacking(subject)
        known = self.lacks.get(subject.platform.name, {})
        forms = {**subject.operation.forms(case), **subject.operation.results(case)}
        for name, form in forms.items():
            reason = known.get(form.dtype, "")
            if reason and not is_narrowed(reason):
                return f"{name} is of {form.dtype}: {reason}"
        return ""

    def profile(self, platform: Platform) -> dict[str, Any] | None:
        """Return how ``platform`` computes, which is measured once; None where it is not to be, or is out of reach."""
        with contextlib.suppress(PlaceLost):
            self._meet(platform)
        return self._profiles.get(platform.name)

    def _meet(self, platform: Platform) -> None:
        """Ask ``platform``, once, what it is and how it computes, and have the bundle say so."""
        if platform.name in self.lacks:
            return
        described = self.pool.describe(platform)
        self.lacks[platform.name] = described["capabilities"]
        for caveat in described["facts"].get("caveats", ()):
            warnings.warn(f"platform {platform.name}: {caveat}", RuntimeWarning, stacklevel=3)
        self.bundle.update_environment(f"platform {platform.name}", described)
        profile = self._profiles[platform.name] = self._measure(platform)
        if profile:
            self.bundle.update_environment(f"{PROFILE}{platform.name}", profile)

    def measured(self, subject: Subject, dtype: str) -> list[Cause]:
        """Return the causes of differences that the profile of the subject's platform names."""
        answers = (self.profile(subject.platform) or {}).get("answers", ())
        return measured(answers, subject.operation, subject.implementation.id, dtype)

    def one(self, subject: Subject, case: Case, *, suite: str, contract: str = "", checked: bool = True) -> Record:
        """Run ``case`` on ``subject``; return the record, which has been written.

        With a ``contract`` (:mod:`platforms.contracts`), that is checked, or named alone where its case is all there is
        to it. Each of several outputs is judged and recorded, and the record with the worst verdict returned.
        """
        subject.operation.check(case)
        reason = self.lacking(subject).get(case.dtype)
        if case.dtype not in subject.dtypes:
            reason = f"written for {', '.join(subject.dtypes)}, not {case.dtype}"
        if reason := reason or subject.implementation.refuses(case):
            return self.leave_out(subject, case, suite=suite, reason=reason)
        ran = self.execute(subject, case, contract=contract if checked else "")
        outputs = [ran, *(replace(ran, results=other, message=said, damage=()) for said, other in ran.others)]
        if contract:
            outputs = [replace(one, message=f"contract {contract}; {one.message}".rstrip("; ")) for one in outputs]
        return worst([self.judged(subject, case, one, suite=suite) for one in outputs])

    def execute(self, subject: Subject, case: Case, *, contract: str = "") -> Outcome:
        """Return what came of running ``case`` on ``subject``, of checking a ``contract`` if one is named."""
        if why := self._without(subject, case):
            return Outcome("unsupported", message=why)
        try:
            ran = self.pool.run(
                subject.platform,
                subject.implementation.id,
                case,
                time_limit=self._patience.get(subject.id),
                contract=contract,
            )
        except GatewayLost as error:
            ran = Outcome("crashed", message=str(error))
        except PlaceLost as error:
            return Outcome("unsupported", message=str(error))
        if ran.status == "hung":
            # It hangs: the smaller cases that hang too are not worth the full time limit each.
            least = SHORT_LIMIT[paradigm_of(subject.implementation.paradigm).compiles]
            self._patience[subject.id] = max(least, 10 * self._slowest.get(subject.id, 0.0))
        else:
            self._slowest[subject.id] = max(ran.seconds, self._slowest.get(subject.id, 0.0))
        return ran

    def state(self, subject: Subject, case: Case, *, suite: str, verdict: str, message: str) -> Record:
        """Record a ``verdict`` that no output of ``case`` stands for, such as that it is not run; return the record."""
        return self._record(subject, case, suite, verdict, message=message)

    def leave_out(self, subject: Subject, case: Case, *, suite: str, reason: str) -> Record:
        """Record that ``case`` is not run, and why; return the record.

        Where the place of its platform is lost, one record stands for all cases of a dtype that remain.
        """
        lost = self.pool.why_lost(subject.platform)
        key = (subject.id, case.dtype, suite)
        if not lost:
            return self.state(subject, case, suite=suite, verdict="unsupported", message=reason)
        if key not in self._remaining:
            self._remaining[key] = self._record(subject, case, suite, "unsupported", message=reason)
        return self._remaining[key]

    def explore(self, subject: Subject, *, suite: str) -> Record | None:
        """Run drawn cases on ``subject``; return the record of the smallest failure, or None.

        How many is for the Hypothesis profile to say; the dtypes share them. The cases depend on the operation
        and on what the platform can hold alone, so that all implementations of one operation get the same ones. Once a
        dtype has failed, the others are still tested, but their failures are not made smaller.
        """
        lacking = self.lacking(subject)
        failures: list[Record] = []
        examples = share(subject, settings().max_examples)
        for place, dtype in enumerate(subject.dtypes):
            if dtype in lacking:
                bare = Case(subject.operation.name, dtype, {})
                self.leave_out(subject, bare, suite=suite, reason=lacking[dtype])
                continue
            search = Search(
                lambda case: self.one(subject, case, suite=suite),
                functools.partial(_cases, subject, dtype, ahead(place, examples)),
                examples=examples,
                digest=f"{suite}:{subject.operation.name}:{dtype}",
                seconds=self.shrink_seconds,
            )
            failure = search.failure(shrink=not failures)
            failures += [failure] if failure else []
        return self._confirmed(subject, failures, suite) if failures else None

    def replay(self, subject: Subject, cases: Sequence[Case], *, suite: str) -> Record | None:
        """Run every one of ``cases`` on ``subject``; return the failing record with the worst verdict, or None.

        A dtype that the platform or the implementation cannot do is recorded once.
        """
        lacking = self.lacking(subject)
        failures: list[Record] = []
        skipped = set[str]()
        for case in cases:
            if case.dtype in lacking or case.dtype not in subject.dtypes:
                if case.dtype not in skipped:
                    skipped.add(case.dtype)
                    self.one(subject, case, suite=suite)
                continue
            record = self.one(subject, case, suite=suite)
            failures += [record] if outcome_of(record) == "fail" else []
        if not failures:
            return None
        one = self._explained(subject, worst(failures))
        if len(cases) == 1:
            return one
        return replace(one, message=f"{len(failures)} of {len(cases)} cases fail; {one.message}")

    def _confirmed(self, subject: Subject, failures: list[Record], suite: str) -> Record:
        """Return the first failure as it is when run once more, and say which other dtypes fail."""
        first, *others = failures
        again = self.one(subject, Case.parse(first.case), suite=suite)
        notes = [f"fails for {', '.join(record.dtype for record in others)} too"] if others else []
        if again.verdict == "unsupported":
            again, notes = first, ["not run again", *notes]
        elif outcome_of(again) != "fail":
            again, notes = first, ["not every time: it passed when it was run again", *notes]
        said = self._explained(subject, replace(again, message="; ".join(filter(None, [again.message, *notes]))))
        return self._stated(said) if said != again else again

    def _explained(self, subject: Subject, failure: Record) -> Record:
        """Return ``failure`` with its cause, as far as one is looked for and found."""

        def kind(one: Record) -> tuple[str, ...]:
            return one.implementation, one.platform, one.dtype, one.verdict

        alike = [one for one in self.latest if kind(one) == kind(failure)]
        return replace(failure, cause=self._inquiry.cause(subject, failure, alike))

    def _failing(self, subject: Subject, case: Case) -> list[np.ndarray] | None:
        """Return what ``subject`` makes of ``case`` if that has the right form and does not pass, else None."""
        ran = self.execute(subject, case)
        if ran.status != "returned" or mismatch(subject, case, ran):
            return None
        outputs = [result.array for result in ran.results]
        return None if judge_all(self.goldens.of(subject.operation, case).goldens, outputs).passes else outputs

    def judged(self, subject: Subject, case: Case, ran: Outcome, *, suite: str) -> Record:
        """Return the record of what came of a run, which has been written."""
        if ran.status == "unsupported":
            return self.leave_out(subject, case, suite=suite, reason=ran.message)
        standard = self.goldens.of(subject.operation, case)
        if ran.input_digest and ran.input_digest != standard.input_digest:
            message = f"the worker's inputs differ: {ran.input_digest} there, {standard.input_digest} here"
            return self._record(subject, case, suite, "input changed", standard, ran, message=message)
        if ran.status != "returned":
            ended = "crashed" if ran.status == "raised" else ran.status
            status = next((one.kind for one in ran.damage), ended)
            return self._record(subject, case, suite, status, standard, ran, message=ran.message)
        if other := mismatch(subject, case, ran):
            return self._record(subject, case, suite, "wrong", standard, ran, message=other)
        outputs = [result.array for result in ran.results]
        verdict = judge_all(standard.goldens, outputs)
        if verdict.passes and (why := _contradiction(subject, case, ran, standard)):
            return self._record(subject, case, suite, "wrong", standard, ran, message=why)
        accounted = ""
        if not verdict.passes:
            try:
                accounted, verdict, met = account(subject, case, outputs, verdict, self.goldens, self.pool)
            except PlaceLost as error:
                return self.leave_out(subject, case, suite=suite, reason=str(error))
            standard = met or standard
        status = "drift" if accounted else verdict.status
        if status in ("exact", "within") and (standard.teeth.vacuous or 0 < verdict.elements == verdict.open):
            status = "vacuous"
        if ran.damage:
            status, accounted = ran.damage[0].kind, ""
        said = "; ".join(filter(None, [ran.message, *([one.detail for one in ran.damage] or [verdict.detail])]))
        return self._record(
            subject, case, suite, status, standard, ran, verdict=verdict, accounted=accounted, message=said
        )

    def _record(
        self,
        subject: Subject,
        case: Case,
        suite: str,
        status: str,
        standard: Standard | None = None,
        ran: Outcome | None = None,
        *,
        verdict: Verdict | None = None,
        accounted: str = "",
        message: str = "",
    ) -> Record:
        record = Record(
            suite=suite,
            case=case.line,
            operation=case.operation,
            dtype=case.dtype,
            implementation=subject.implementation.id,
            platform=subject.platform.name,
            verdict=status,
            elements=verdict.elements if verdict else 0,
            open=verdict.open if verdict else 0,
            max_ulp=verdict.max_ulp if verdict else None,
            share=verdict.share if verdict else None,
            hard_share=verdict.hard_share if verdict else None,
            rms_ulp=verdict.rms_ulp if verdict else None,
            bias_ulp=verdict.bias_ulp if verdict else None,
            rms_share=verdict.rms_share if verdict else None,
            deviations=verdict.deviations if verdict else None,
            seconds=ran.seconds if ran else None,
            message=message,
            accounted=accounted,
            refused=standard.teeth.refused if standard else (),
            accepted=standard.teeth.accepted if standard else (),
            digest=_digest(ran.results) if ran else "",
            input_digest=standard.input_digest if standard else "",
        )
        return self._stated(record, ran.results if ran else ())

    def _stated(self, record: Record, results: Sequence[Result] = ()) -> Record:
        self.bundle.append(record, [result.array for result in results])
        self.latest.append(record)
        return record


def share(subject: Subject, asked: int) -> int:
    """Return how many of the cases that are ``asked`` for in all each dtype gets: fewer where each must be built."""
    share = max(min(LEAST_CASES, asked), asked // len(subject.dtypes))
    return max(1, share // COSTLY) if paradigm_of(subject.implementation.paradigm).costly else share


def ahead(place: int, examples: int) -> int:
    """Return how many turns the dtypes before that at ``place`` took; the simplest case of each takes none."""
    return place * (examples - 1)


def _cases(subject: Subject, dtype: str, before: int, number: int) -> SearchStrategy[Case]:
    """Return what the cases of batch ``number`` come from, where the laws of values had turns ``before``.

    Where there are few of them, none is spent on tensors of one element or none.
    """
    drawn = strategies.cases(subject.operation, subject.platform.budget, dtype=dtype, turn=turn(before, number))
    if not paradigm_of(subject.implementation.paradigm).costly:
        return drawn
    return drawn.filter(lambda case: max(form.size for form in subject.operation.forms(case).values()) > 1)


def worst(records: Iterable[Record]) -> Record:
    """Return the record with the worst verdict, a failing one if there is one."""
    return max(records, key=lambda record: (outcome_of(record) == "fail", VERDICTS.index(record.verdict)))


def mismatch(subject: Subject, case: Case, ran: Outcome) -> str:
    """Return how the number, dtypes or shapes of the results break the contract, or ""."""
    promised = [f"{form.dtype}{list(form.shape)}" for form in subject.operation.results(case).values()]
    returned = [f"{result.dtype}{list(result.shape)}" for result in ran.results]
    return "" if promised == returned else f"returned {', '.join(returned)} instead of {', '.join(promised)}"


def _contradiction(subject: Subject, case: Case, ran: Outcome, standard: Standard) -> str:
    """Return how results contradict each other or the inputs, whatever is left open in each alone, or ""."""
    forms = subject.operation.results(case).items()
    results = {name: decode(one.array, form.dtype) for (name, form), one in zip(forms, ran.results, strict=True)}
    return subject.operation.contradiction(case, standard.inputs, results)


def _digest(results: Sequence[Result]) -> str:
    if not results:
        return ""
    state = hashlib.sha256()
    for result in results:
        state.update(result.array.tobytes())
    return state.hexdigest()[:16]
