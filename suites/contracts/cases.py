"""What contracts make of a drawn case: the cases that they are checked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from golden.case import Case, TensorSpec
from suites.subject import Subject


def with_other_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with another seed: one that the implementation has not been asked for yet."""
    yield replace(case, seed=case.seed + 1)


def with_repeated_slices(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case, and the case with the first axis of every tensor that allows it of stride 0."""
    yield case
    forms = subject.operation.forms(case)
    free = [name for name, form in forms.items() if form.values is None and form.shape and form.shape[0] > 1]
    if free:
        repeated = {name: TensorSpec(case.spec(name).regime, "expanded0") for name in free}
        yield replace(case, tensors={**case.tensors, **repeated})
