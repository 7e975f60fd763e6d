"""What implementations and platforms make of the same cases, held against each other.

Outputs that are bit for bit the same form a group. Between groups the distance is measured in the sum of the bounds
that either may use up; the smallest case on which they differ, and what makes them differ, are looked for.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, find, settings
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from golden.case import Case, TensorSpec
from golden.dtypes import decode, dtype_of, encode, ulp
from golden.judge import Golden, judge_all
from kernels import strategies
from kernels.operation import Operation
from platforms.outcome import Result
from platforms.paradigm import paradigm_of
from platforms.pool import PlaceLost
from reports.agreement import PREFIX
from reports.record import outcome
from suites.accounts import account
from suites.causes import Effort, at_once, explained
from suites.drawn import drawn
from suites.goldens import Standard
from suites.run import Run, mismatch
from suites.subject import Subject

BUDGET = 2**11
"""Elements a tensor of the shared cases: enough for sums to be added in different orders."""

_FEWER = 5  # times fewer cases are shared than an implementation alone gets
_SHRINKING = 20  # examples from which on a smaller case is looked for

SHRINK_SECONDS = 2.0
"""How long the smallest cases of one operation and dtype are looked for, all pairs together."""

RECOMPUTED = 150
"""Golden results that are recomputed in search of causes of one operation and dtype: about a second's work."""

UNTRIED = "causes not tried, since those of others have taken the work that is granted"
"""What is said of a difference that is not looked into."""


@dataclass(frozen=True)
class Answer:
    """What one subject made of a case, every NaN alike, and the standard that it meets; None where it meets none."""

    outputs: tuple[np.ndarray, ...]
    standard: Standard | None
    accounted: str = ""

    @functools.cached_property
    def bits(self) -> bytes:
        """The outputs as bytes."""
        return b"".join(output.tobytes() for output in self.outputs)


@dataclass(frozen=True)
class Distance:
    """How far two answers are apart, and of several results, such as those of ranks, ``where``.

    ``share`` is the largest difference over the sum of both bounds, infinite where just one of two is a number; ``ulp``
    is in units of the last place. ``differing`` counts elements, of which ``open`` ones are left open by the contract.
    """

    share: float = 0.0
    ulp: float = 0.0
    differing: int = 0
    open: int = 0
    where: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two subjects that differ: how far at most, on how many cases, the smallest of those, and the cause."""

    one: str
    other: str
    distance: Distance
    cases: int
    smallest: Case
    cause: str

    @property
    def apart(self) -> bool:
        """Whether they are further apart than both bounds together allow."""
        return self.distance.share > 1

    def to_value(self) -> dict[str, object]:
        """Return the pair as JSON values."""
        figures = {"share": min(self.distance.share, 1e300), "ulp": min(self.distance.ulp, 1e300)}
        counts = {"differing": self.distance.differing, "open": self.distance.open, "cases": self.cases}
        return {
            "one": self.one,
            "other": self.other,
            **figures,
            **counts,
            "case": self.smallest.line,
            "cause": self.cause,
            **({"where": list(self.distance.where)} if self.distance.where else {}),
        }


@dataclass(frozen=True)
class Agreement:
    """What subjects made of shared cases of one dtype: groups of equal ones, the largest first, and what differs."""

    dtype: str
    cases: int
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Pair, ...]

    def to_value(self) -> dict[str, object]:
        """Return the agreement as JSON values."""
        pairs = [pair.to_value() for pair in self.pairs]
        return {"dtype": self.dtype, "cases": self.cases, "groups": [list(one) for one in self.groups], "pairs": pairs}


def agreements(
    run: Run, subjects: Sequence[Subject], *, cases: Sequence[Case] | None = None, recomputed: int = RECOMPUTED
) -> Iterator[Agreement]:
    """Yield how ``subjects``, all of one operation, agree on ``cases`` or else on shared ones, for each dtype.

    Causes are looked for until golden has been ``recomputed`` that often for a dtype.
    """
    operation, examples = subjects[0].operation, settings().max_examples
    for dtype in operation.dtypes:
        able = [one for one in subjects if dtype in one.dtypes and dtype not in run.lacking(one)]
        if len(able) < 2:
            continue
        if cases is None:
            budget = min(one.platform.budget for one in able)
            shared = shared_cases(operation, dtype, max(1, examples // _FEWER), budget)
        else:
            shared = [case for case in cases if case.dtype == dtype]
        if shared:
            shrink = cases is None and examples >= _SHRINKING
            yield _Comparison(run, able, shared, shrink=shrink, effort=Effort(recomputed)).agreement(dtype)


def shared_cases(operation: Operation, dtype: str, number: int, budget: int) -> list[Case]:
    """Return cases with more than one element, the same ones every time: the larger ones first, of numbers first."""

    def telling(case: Case) -> tuple[bool, int]:
        forms = operation.forms(case)
        special = any(case.spec(name).regime in ("nan", "inf") for name in forms)
        return not special, sum(form.size for form in forms.values())

    several = drawn(operation, 3 * max(number, 2), budget=min(budget, BUDGET), dtype=dtype)
    return sorted(several, key=telling, reverse=True)[:number]


def conclude(
    run: Run,
    rivals: Sequence[Subject],
    *,
    asked: Callable[[str], list[Case] | None],
    note: Callable[[str, object], None],
    effort: float = 1.0,
    name: str = "",
) -> None:
    """Hold ``rivals`` against each other; the test fails if two are further apart than their bounds allow.

    How many cases is for the Hypothesis profile to say, unless some are ``asked`` for. ``note`` is pytest's
    ``record_property``; ``effort`` is how many times as long as usual causes are looked for; ``name`` is of what is
    compared, if that is not all of the operation.
    """
    operation = rivals[0].operation
    for rival in rivals:
        note("subject", rival.id)
    found = list(agreements(run, rivals, cases=asked(operation.name), recomputed=round(RECOMPUTED * effort)))
    run.bundle.update_environment(f"{PREFIX}{name or operation.name}", [one.to_value() for one in found])
    groups = [len(one.groups) for one in found]
    note("word", f"{max(groups, default=0)} groups of {len(rivals)}")
    apart = [pair for one in found for pair in one.pairs if pair.apart]
    if apart:
        pytest.fail("\n".join(["", *(line for pair in apart for line in _described(pair))]), pytrace=False)
    if not found:
        pytest.skip("no dtype has two implementations or platforms to compare")


def _described(pair: Pair) -> Iterator[str]:
    far = ", ".join([*pair.distance.where, f"{pair.distance.share:.3g} of both bounds together"])
    yield f"APART: {pair.one} and {pair.other}, {far}, on {pair.cases} cases"
    yield f"{pair.cause}"
    yield f"  {pair.smallest.line}"


class _Comparison:
    """One comparison: the answers of every subject to every shared case."""

    def __init__(
        self, run: Run, subjects: Sequence[Subject], cases: Sequence[Case], *, shrink: bool, effort: Effort
    ) -> None:
        self._run = run
        self._subjects = {subject.id: subject for subject in subjects}
        self._cases = cases
        self._known: dict[tuple[str, Case], str] = {}
        self._effort = effort
        self._answers = {name: self._answers_of(subject) for name, subject in self._subjects.items()}
        self._deadline = time.monotonic() + (SHRINK_SECONDS if shrink else 0.0)

    def agreement(self, dtype: str) -> Agreement:
        """Return groups and pairs."""
        groups: list[list[str]] = []
        for name, answers in self._answers.items():
            if not answers:
                continue
            home = next((group for group in groups if self._equal(group[0], name)), None)
            if home is None:
                groups.append([name])
            else:
                home.append(name)
        groups.sort(key=len, reverse=True)
        pairs = [
            self._pair(one[0], other[0], largest=one is groups[0]) for one, other in itertools.combinations(groups, 2)
        ]
        return Agreement(dtype, len(self._cases), tuple(map(tuple, groups)), tuple(filter(None, pairs)))

    def _answers_of(self, subject: Subject) -> dict[Case, Answer]:
        # What must be built for every case answers the first one alone.
        cases = self._cases[:1] if paradigm_of(subject.implementation.paradigm).costly else self._cases
        answers = ((case, answer(self._run, subject, case)) for case in cases)
        return {case: one for case, one in answers if one}

    def _equal(self, one: str, other: str) -> bool:
        shared = self._answers[one].keys() & self._answers[other].keys()
        return bool(shared) and all(self._answers[one][case].bits == self._answers[other][case].bits for case in shared)

    def _pair(self, one: str, other: str, *, largest: bool) -> Pair | None:
        """Return how two differ; with the cause where one is of the ``largest`` group, or they are apart."""
        first, second = self._answers[one], self._answers[other]
        differing = [case for case in first.keys() & second.keys() if first[case].bits != second[case].bits]
        if not differing:
            return None  # nothing shared
        contract = self._run.goldens
        operation = self._subjects[one].operation
        distances = {
            case: distance(contract.of(operation, case).goldens, first[case], second[case]) for case in differing
        }
        farthest = max(differing, key=lambda case: distances[case].share)
        apart = distances[farthest].share > 1
        smallest, cause = min(differing, key=lambda case: len(case.line)), ""
        if largest or apart:
            smallest, cause = self._smaller(one, other, apart) or smallest, self._cause(one, other, farthest)
        return Pair(one, other, distances[farthest], len(differing), smallest, cause)

    def _smaller(self, one: str, other: str, apart: bool) -> Case | None:
        """Return the smallest case on which the two differ, or are ``apart``, as far as there is time to look."""
        subjects = self._subjects[one], self._subjects[other]
        slow = any(paradigm_of(subject.implementation.paradigm).costly for subject in subjects)
        if slow or time.monotonic() > self._deadline:
            return None
        operation = subjects[0].operation

        def differs(case: Case) -> bool:
            if time.monotonic() > self._deadline:
                return False
            first, second = (answer(self._run, subject, case) for subject in subjects)
            if not first or not second or first.bits == second.bits:
                return False
            return not apart or distance(self._run.goldens.of(operation, case).goldens, first, second).share > 1

        return _found(strategies.cases(operation, BUDGET, dtype=self._cases[0].dtype), differs)

    def _cause(self, one: str, other: str, case: Case) -> str:
        """Return what makes the two differ on ``case``: of either what explains it, else what an experiment shows."""
        untried = self._effort.over and any((name, case) not in self._known for name in (one, other))
        known = {name: self._explained(name, case) for name in (one, other)}
        if any(known.values()):
            return "; ".join(f"{name}: {cause}" for name, cause in known.items() if cause)
        shown = self._shown(one, other, case)
        return "; ".join(filter(None, [shown, UNTRIED if untried else ""])) or "unexplained"

    def _shown(self, one: str, other: str, case: Case) -> str:
        """Return what the two make of whole numbers, where no sum is rounded, says of their difference; or ""."""
        plain = _on_whole_numbers(self._subjects[one].operation, case)
        first, second = (answer(self._run, self._subjects[name], plain) if plain else None for name in (one, other))
        if not first or not second:
            return ""
        if first.bits == second.bits:
            return "roundings (equal on whole numbers)"
        return "functions or quotients (different on whole numbers too)"

    def _explained(self, name: str, case: Case) -> str:
        """Return what explains an answer; "" for nothing, or where there is too much to look at."""
        if (name, case) not in self._known:
            given, operation = self._answers[name][case], self._subjects[name].operation
            said = ""
            if not self._effort.over and sum(output.size for output in given.outputs) <= BUDGET:
                known, most = self._run.measured(self._subjects[name], case.dtype), at_once(operation)
                found = explained(operation, case, given.outputs, measured=known, most=most, effort=self._effort)
                # Of what is right anyway, only a cause that makes the very bits says where it comes from.
                telling = not found.before.passes or any(trial.equal == 1 for trial in found.found)
                said = found.brief if telling else ""
            self._known[name, case] = said or given.accounted
        return self._known[name, case]


def answer(run: Run, subject: Subject, case: Case) -> Answer | None:
    """Return what ``subject`` makes of ``case``, which is recorded; None if that is no output of the right shapes."""
    ran = run.execute(subject, case)
    record = run.judged(subject, case, ran, suite="agreement")
    if record.verdict == "unsupported" or ran.status != "returned" or ran.damage or mismatch(subject, case, ran):
        return None
    outputs = tuple(_canonical(result) for result in ran.results)
    standard = run.goldens.of(subject.operation, case)
    if outcome(record) != "fail" and not record.accounted:
        return Answer(outputs, standard)
    verdict = judge_all(standard.goldens, outputs)
    try:
        said, _, met = account(subject, case, outputs, verdict, run.goldens, run.pool)
    except PlaceLost:
        return None
    return Answer(outputs, met if said else None, said)


def distance(contract: Mapping[str, Golden], one: Answer, other: Answer) -> Distance:
    """Return how far two answers to one case are apart; ``contract`` is what golden is without any declaration."""
    found = Distance()
    for name, golden in contract.items():
        index = list(contract).index(name)
        mine, theirs = (each.standard.goldens[name] if each.standard else golden for each in (one, other))
        part = _distance(golden, mine, theirs, one.outputs[index], other.outputs[index])
        found = Distance(
            max(found.share, part.share),
            max(found.ulp, part.ulp),
            found.differing + part.differing,
            found.open + part.open,
            (*found.where, *([name] if part.differing and len(contract) > 1 else ())),
        )
    return found


def _distance(golden: Golden, mine: Golden, theirs: Golden, one: np.ndarray, other: np.ndarray) -> Distance:
    differs = _bits(one) != _bits(other)
    judged = np.isfinite(golden.hard)
    with np.errstate(all="ignore"):
        x, y = decode(one, golden.dtype).astype(np.float64), decode(other, golden.dtype).astype(np.float64)
        gap = np.where((x == y) | ~differs, 0.0, np.abs(x - y))
        gap = np.where(np.isnan(gap), np.inf, gap)
        granted = mine.drift + theirs.drift + mine.radius + theirs.radius + np.abs(mine.value - theirs.value)
        share = np.where(judged & (gap > 0), gap / granted, 0.0)
        units = np.where(judged, gap / ulp(golden.value.astype(np.float64), golden.dtype), 0.0)
    open_ = int((differs & ~judged).sum())
    return Distance(float(share.max(initial=0.0)), float(units.max(initial=0.0)), int(differs.sum()), open_)


def _canonical(result: Result) -> np.ndarray:
    """Return the elements of a result, with every NaN the same."""
    if not dtype_of(result.dtype).is_float:
        return result.array
    nan = np.isnan(decode(result.array, result.dtype))
    return np.where(nan, encode(np.array(np.nan), result.dtype), result.array) if nan.any() else result.array


def _bits(output: np.ndarray) -> np.ndarray:
    return output.view(f"u{output.itemsize}")


def _found(cases: SearchStrategy[Case], condition: Callable[[Case], bool]) -> Case | None:
    """Return the smallest of the drawn ``cases`` that the condition holds for; it may cease to, to end the search."""
    smallest: list[Case] = []

    def holds(case: Case) -> bool:
        if condition(case):
            smallest[:] = [case]
            return True
        return False

    quiet = settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    with contextlib.suppress(NoSuchExample, Flaky):
        find(cases, holds, settings=quiet)
    return smallest[0] if smallest else None


def _on_whole_numbers(operation: Operation, case: Case) -> Case | None:
    """Return ``case`` with small whole numbers in its tensors of floats; None where the contract does not take them."""
    floats = [name for name, form in operation.forms(case).items() if dtype_of(form.dtype).is_float]
    if not floats or any("integers" not in operation.regimes(case.dtype, name) for name in floats):
        return None
    specs = {name: TensorSpec("integers", case.spec(name).layout) for name in floats}
    return replace(case, tensors={**case.tensors, **specs})
