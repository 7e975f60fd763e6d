"""What is tried of one operation: its wrong kernels and their correct twins, by the suite and as others would."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np

from golden.case import Case
from golden.dtypes import decode
from kernels.registry import load
from platforms.detect import detect
from platforms.gather import probe
from platforms.outcome import Outcome
from platforms.paradigm import paradigm_of
from platforms.pool import GatewayLost, Pool
from reports.bundle import Bundle
from reports.record import Record, outcome
from suites.contracts.catalogue import CONTRACTS
from suites.contracts.keeping import BUDGET, SPARSER, Keeping
from suites.contracts.refusals import stale_refusal
from suites.drawn import drawn
from suites.meta.mutants import FOLDER, Fault, faults
from suites.options import DEPTHS
from suites.power.peers import LARGEST, PEERS, Peer
from suites.run import Run, ahead, share
from suites.subject import Selection, Subject, select

ELSEWHERE = ("large.py", "large_triton.py", "streams.py", "unseen.py")
"""Files whose kernels need tensors of gigabytes, a device's streams or a sanitizer: tried on devices alone."""

SUITE, SMALLEST, RIGHT, AGAIN = "suite", "smallest case", "right", "again"
"""Who noticed something, beside the peers: the suite on drawn cases, and its search for the smallest; the suite on
correct kernels, and on cases of theirs that it has refused before."""

SHRINK_SECONDS = 10.0
"""How long a case is made smaller: there are many, and few of them gain by more."""

EXAMPLES = 3
"""Kernels of each class whose smallest cases are shown."""

CANDIDATES = 6
"""Kernels of each class whose smallest cases are looked for: not every one can be run everywhere."""

STAGES = ("quick", "contracts", "standard")
"""Where the suite may notice a wrong kernel, in the order in which it is tried."""


@dataclass(frozen=True)
class Trial:
    """What came of one kernel on the cases of one seed.

    Attributes:
        kernel, platform, seed: what was tried.
        by: by whom: one of :data:`SUITE`, :data:`SMALLEST` and the names of peers.
        noticed: the stage that refused the kernel, "" if none did: right for a correct kernel.
        after: how many cases that took, the last included; all that were run if it was not refused.
        verdict, case, message: of the record that refused it.
    """

    kernel: str
    platform: str
    seed: int
    by: str
    noticed: str
    after: int
    verdict: str = ""
    case: str = ""
    message: str = ""


@dataclass
class Bench:
    """Everything that trials in one process share: subjects, workers and golden results."""

    run: Run
    subjects: Sequence[Subject]
    wrong: frozenset[str]
    examples: frozenset[str]
    _cases: dict[tuple[str, str, int, int, int], list[Case]] = field(default_factory=dict)
    _expected: dict[str, list[np.ndarray] | None] = field(default_factory=dict)

    @classmethod
    def open(cls, bundle: str, selection: Selection, time_limit: float) -> Bench:
        """Return a bench over all wrong kernels and right ones of a ``selection``."""
        catalogue = load([FOLDER])
        subjects, _ = select(catalogue, detect(probe()), selection)
        pool = Pool(kernels=[FOLDER], time_limit=time_limit)
        run = Run(pool=pool, bundle=Bundle.join(bundle), shrink_seconds=SHRINK_SECONDS)
        wrong = faults(catalogue.implementations)
        return cls(run, subjects, frozenset(wrong), frozenset(_examples(wrong)))

    def close(self) -> None:
        """End the workers."""
        self.run.pool.close()

    def suite(self, operation: str, seed: int) -> list[Trial]:
        """Return a trial of every wrong kernel of ``operation`` and every twin beside them."""
        self._cases.clear()
        return [self._tried(subject, seed) for subject in self._of(operation) if self._beside(subject)]

    def peers(self, operation: str, seed: int) -> list[Trial]:
        """Return a trial by each peer, with as many calls, of every wrong kernel and of a correct one in Triton."""
        everything = list(self._of(operation))
        right = [one for one in everything if one.implementation.paradigm == "triton" and not self._is_wrong(one)]
        chosen = [*(one for one in everything if self._is_wrong(one) and self._beside(one)), *right[:1]]
        eager = next((one for one in self._of(operation) if one.implementation.name == "eager"), None)
        trials: list[Trial] = []
        for peer in PEERS if eager else ():
            self._expected.clear()
            trials += [self._judged(peer, subject, eager, seed) for subject in chosen if eager]
        return trials

    def smallest(self, operation: str, seed: int) -> list[Trial]:
        """Return the smallest cases that refuse wrong kernels of ``operation``, of those that are examples."""
        trials = []
        for subject in self._of(operation):
            if subject.implementation.id in self.examples and self._beside(subject):
                self.run.latest.clear()  # a failure is explained by all that it holds
                record = self.run.explore(subject, suite="equivalence")
                record = record or Keeping(self.run, CONTRACTS).explore(subject, suite="contracts")
                trials += [_trial(subject, seed, SMALLEST, "quick", 0, record)] if record else []
        return trials

    def right(self, operation: str, seed: int) -> list[Trial]:
        """Return a trial, by the cases of profile standard, of each kernel of the catalogue that is not costly."""
        self._cases.clear()
        return [
            self._held(subject, [("standard", self._equivalence(subject, "standard", seed))], seed, RIGHT)
            for subject in self._of(operation)
            if Path(subject.implementation.source).parent != FOLDER
            and not paradigm_of(subject.implementation.paradigm).costly
        ]

    def again(self, refused: str, seed: int) -> list[Trial]:
        """Return a trial by one case that a kernel was ``refused`` for; none where the kernel cannot be run."""
        name, _, line = refused.partition(" ")
        here = [subject for subject in self.subjects if subject.id == name]
        records = ((one, self.run.one(one, Case.parse(line), suite="power")) for one in here)
        return [self._held(one, [("quick", [record])], seed, AGAIN) for one, record in records]

    def _of(self, operation: str) -> Iterator[Subject]:
        return (subject for subject in self.subjects if subject.operation.name == operation)

    def _is_wrong(self, subject: Subject) -> bool:
        return subject.implementation.id in self.wrong

    def _beside(self, subject: Subject) -> bool:
        source = Path(subject.implementation.source)
        return source.parent == FOLDER and not (source.name in ELSEWHERE and subject.platform.device == "cpu")

    def _tried(self, subject: Subject, seed: int) -> Trial:
        return self._held(subject, self._stages(subject, seed), seed, SUITE)

    def _held(self, subject: Subject, stages: Iterable[tuple[str, Iterable[Record]]], seed: int, by: str) -> Trial:
        """Return a trial by what stages say, one after another, until one refuses the kernel."""
        after = 0
        for stage, records in stages:
            for record in records:
                after += record.verdict != "unsupported"
                if outcome(record) == "fail":
                    return _trial(subject, seed, by, stage, after, record)
        return _trial(subject, seed, by, "", after)

    def _stages(self, subject: Subject, seed: int) -> Iterator[tuple[str, Iterable[Record]]]:
        yield "quick", self._equivalence(subject, "quick", seed)
        if self._is_wrong(subject):
            yield "contracts", self._contracts(subject, "quick", seed)
            yield "standard", self._equivalence(subject, "standard", seed)
            yield "standard", self._contracts(subject, "standard", seed)

    def _equivalence(self, subject: Subject, depth: str, seed: int) -> Iterator[Record]:
        number = share(subject, DEPTHS[depth])
        for place, dtype in enumerate(subject.dtypes):
            if dtype not in self.run.lacking(subject):
                for case in self._drawn(subject, dtype, number, seed, before=ahead(place, number)):
                    yield self.run.one(subject, case, suite="power")

    def _contracts(self, subject: Subject, depth: str, seed: int) -> Iterator[Record]:
        """Yield what contracts say on as many cases as they have in a profile, of each dtype in turn."""
        number = 1 if paradigm_of(subject.implementation.paradigm).costly else DEPTHS[depth] // SPARSER
        dtypes = self._dtypes(subject)
        drawn = [self._drawn(subject, dtype, number + 6, seed, most=BUDGET) for dtype in dtypes]
        fit = [[case for case in cases if _size(subject, case) > 1] for cases in drawn]
        in_turn = (case for several in zip_longest(*fit) for case in several if case)
        for case in islice(in_turn, number):
            for contract in CONTRACTS:
                for one in contract.cases(subject, case):
                    check = contract.name if contract.checked else ""
                    yield self.run.one(subject, one, suite="power", contract=check)
        if stale := stale_refusal(self.run, subject, suite="power"):
            yield stale

    def _dtypes(self, subject: Subject) -> list[str]:
        lacking = self.run.lacking(subject)
        return [dtype for dtype in subject.dtypes if dtype not in lacking]

    def _drawn(
        self, subject: Subject, dtype: str, number: int, seed: int, *, most: int | None = None, before: int = 0
    ) -> list[Case]:
        """Return cases of ``seed``: the same for all subjects of an operation, whose golden results are then shared."""
        budget = min(subject.platform.budget, most or subject.platform.budget)
        key = dtype, subject.operation.name, number, budget, before
        if key not in self._cases:
            own = f"{seed}:{subject.operation.name}:{dtype}"
            self._cases[key] = drawn(subject.operation, number, budget=budget, dtype=dtype, seed=own, ahead=before)
        return self._cases[key]

    def _judged(self, peer: Peer, subject: Subject, eager: Subject, seed: int) -> Trial:
        after = 0
        room = min(LARGEST, subject.platform.budget)
        for case in peer.cases(
            subject.operation, self._dtypes(subject), calls=DEPTHS["quick"], seed=seed, largest=room
        ):
            after += 1
            expected = self._expectation(eager, case)
            if expected is not None and not self._accepted(peer, subject, case, expected):
                return Trial(subject.implementation.id, subject.platform.name, seed, peer.name, "quick", after)
        return _trial(subject, seed, peer.name, "", after)

    def _accepted(self, peer: Peer, subject: Subject, case: Case, expected: Sequence[np.ndarray]) -> bool:
        ran = self._ran(subject, case)
        outputs = _numbers(subject, case, ran)
        if outputs is None or (peer.sentinels and any(one.kind == "out of bounds" for one in ran.damage)):
            return False
        reduced = _reduced(subject, case)
        return all(peer.accepts(one, other, case.dtype, reduced) for one, other in zip(outputs, expected, strict=True))

    def _expectation(self, eager: Subject, case: Case) -> list[np.ndarray] | None:
        """Return what PyTorch's own operator makes of a case, which peers take for right."""
        if case.line not in self._expected:
            self._expected[case.line] = _numbers(eager, case, self._ran(eager, case))
        return self._expected[case.line]

    def _ran(self, subject: Subject, case: Case) -> Outcome:
        try:
            return self.run.pool.run(subject.platform, subject.implementation.id, case)
        except GatewayLost as error:
            return Outcome("crashed", message=str(error))


def _examples(wrong: Mapping[str, Fault]) -> Iterator[str]:
    """Yield the ids of the first kernels of each class, those in PyTorch before others."""
    shown = Counter[str]()
    for name in sorted(wrong, key=lambda name: name.split("/")[1] != "torch"):
        shown[wrong[name].kind] += 1
        if shown[wrong[name].kind] <= CANDIDATES:
            yield name


def _trial(subject: Subject, seed: int, by: str, noticed: str, after: int, record: Record | None = None) -> Trial:
    said = (record.verdict, record.case, record.message.partition("\n")[0]) if record else ()
    return Trial(subject.implementation.id, subject.platform.name, seed, by, noticed, after, *said)


def _size(subject: Subject, case: Case) -> int:
    return max(form.size for form in subject.operation.forms(case).values())


def _reduced(subject: Subject, case: Case) -> int:
    """Return how many elements a result of ``case`` is made of."""
    forms, axes = subject.operation.forms(case), subject.operation.reduced_axes(case)
    return math.prod(forms[name].shape[axis] for name, axis in [*axes.items()][:1])


def _numbers(subject: Subject, case: Case, ran: Outcome) -> list[np.ndarray] | None:
    """Return the results as numbers; None where there are none, or not those of the contract."""
    forms = list(subject.operation.results(case).values())
    promised = [(form.dtype, tuple(form.shape)) for form in forms]
    if ran.status != "returned" or promised != [(one.dtype, tuple(one.array.shape)) for one in ran.results]:
        return None
    return [decode(one.array, one.dtype) for one in ran.results]
