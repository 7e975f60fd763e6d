"""Who races against whom, and on what: the implementations of one operation on one platform, on one typical case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from golden.case import Case, TensorSpec
from golden.inputs import known_regimes
from kernels.operation import Operation
from kernels.typical import typical
from kernels.work import work
from platforms.paradigm import paradigm_of
from platforms.platform import Platform
from reports.heat import SIZES
from suites.carryover.parts import judgeable
from suites.subject import Subject

SMALLEST = 2**12
"""Elements of a tensor of a small case: launching it takes longer than working on it."""

DTYPES = ("float32", "float16")
"""What is timed first of an operation's dtypes; one more is timed if it alone brings a rung in."""

REGIME = "positive"
"""The values of floats: of large tensors they are drawn five times as fast as normal ones."""


@dataclass(frozen=True)
class Field:
    """Subjects of one operation and platform, and the case that they are timed on, of a ``size``."""

    subjects: tuple[Subject, ...]
    case: Case
    size: str

    @property
    def operation(self) -> Operation:
        return self.subjects[0].operation

    @property
    def platform(self) -> Platform:
        return self.subjects[0].platform

    @property
    def id(self) -> str:
        return f"{self.operation.name}@{self.platform.name}-{self.case.dtype}-{self.size}"


def fields(subjects: Iterable[Subject], *, every: bool = False) -> list[Field]:
    """Return the fields of ``subjects``, those of one case in a row.

    They are of operations that have a ladder on the same device, and of the others too if ``every``. Platforms whose
    time says nothing of any hardware have none.
    """
    together: dict[tuple[str, str], list[Subject]] = {}
    laddered: set[tuple[str, str]] = set()
    for subject in subjects:
        operation, platform = subject.operation.name, subject.platform
        if not platform.untimed:
            together.setdefault((operation, platform.name), []).append(subject)
            laddered |= {(operation, platform.hardware)} if subject.implementation.optimizes else set()
    chosen = [
        one for one in together.values() if every or (one[0].operation.name, one[0].platform.hardware) in laddered
    ]
    found = [one for several in chosen for one in _fields(several if every else _affordable(several))]
    return sorted(found, key=lambda one: (one.operation.name, one.case.line, one.platform.name))


def _affordable(subjects: Sequence[Subject]) -> list[Subject]:
    """Return ``subjects`` without those that take a compiler as long as all others together, but for rungs."""
    kinds = [(one, one.implementation) for one in subjects]
    return [one for one, kind in kinds if kind.optimizes or not paradigm_of(kind.paradigm).costly]


def _fields(subjects: Sequence[Subject]) -> Iterator[Field]:
    for dtype in _dtypes(subjects):
        seen: set[Case] = set()
        for size in reversed(SIZES):
            case = case_of(subjects[0].operation, dtype, subjects[0].platform, size)
            if case and case not in seen:
                seen.add(case)
                yield Field(tuple(one for one in subjects if dtype in one.dtypes), case, size)


def _dtypes(subjects: Sequence[Subject]) -> Iterator[str]:
    """Yield as few dtypes as it takes for each rung to be timed."""
    known = subjects[0].operation.dtypes
    order = [*(one for one in DTYPES if one in known), *(one for one in known if one not in DTYPES)]
    rungs = {subject.implementation.id: subject.dtypes for subject in subjects if subject.implementation.optimizes}
    waiting = set(rungs) or {""}
    for dtype in order:
        found = {name for name in waiting if dtype in rungs.get(name, known)}
        if found:
            waiting -= found
            yield dtype


def case_of(operation: Operation, dtype: str, platform: Platform, size: str) -> Case | None:
    """Return the case of a ``size`` on ``platform``; smaller where a product or its golden result would take too long.

    None where no typical case of the operation is known.
    """
    most = {"small": SMALLEST, "medium": math.isqrt(SMALLEST * platform.filling), "filling": platform.filling}[size]
    for exponent in range(most.bit_length() - 1, 0, -1):
        case = typical(operation, dtype, 2**exponent)
        if case is None:
            return None
        if work(operation, case).operations <= platform.operations and judgeable(operation, case):
            return _with_values(operation, case)
    return None


def _with_values(operation: Operation, case: Case) -> Case:
    forms = operation.forms(case)
    able = [name for name, form in forms.items() if REGIME in known_regimes(form.dtype)]
    return replace(case, tensors={name: TensorSpec(regime=REGIME) for name in able})
