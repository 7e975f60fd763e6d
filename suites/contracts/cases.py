"""What contracts make of a drawn case: the cases that they are checked on."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from golden.case import Case, CaseError, TensorSpec
from golden.dtypes import dtype_of
from golden.frozen import corpus
from kernels.operation import Operation
from platforms.paradigm import paradigm_of
from suites.large.cases import far_cases, many_cases
from suites.subject import Subject


def with_other_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with another seed: one that the implementation has not been asked for yet."""
    yield replace(case, seed=case.seed + 1)


def and_with_normal_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case, and the same with normal values in contiguous tensors, in which nothing hides what is read."""
    yield case
    yield from with_normal_values(subject, case)


def with_repeated_slices(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case, and the case with the first axis of every tensor that allows it of stride 0."""
    yield case
    forms = subject.operation.forms(case)
    free = [name for name, form in forms.items() if form.values is None and form.shape and form.shape[0] > 1]
    if free:
        repeated = {name: TensorSpec(case.spec(name).regime, "expanded0") for name in free}
        yield replace(case, tensors={**case.tensors, **repeated})


def with_normal_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with normal values in every tensor: almost every sum of them is rounded."""
    yield replace(case, tensors={})


def and_beyond_a_wave(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with normal values, and so enlarged that its elements are more than the device has threads."""
    for one in with_normal_values(subject, case):
        yield one
        if subject.platform.wave and not paradigm_of(subject.implementation.paradigm).costly:
            yield _grown(subject.operation, one, subject.platform.wave)


def and_with_rows(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case, and where no tensor of it has two axes of two elements or more, a frozen one that has."""
    yield case
    if not _has_rows(subject.operation, case):
        frozen = (replace(one, dtype=case.dtype, tensors={}) for one in corpus(subject.operation.name))
        yield from itertools.islice((one for one in frozen if _has_rows(subject.operation, one)), 1)


def with_plain_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with normal values in every tensor, and with small whole numbers."""
    yield replace(case, tensors={})
    yield replace(case, tensors={name: TensorSpec("integers") for name in subject.operation.forms(case)})


def edges(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with each of its dims in turn, and each axis of those that are shapes, of 0 elements and of 1."""
    if paradigm_of(subject.implementation.paradigm).costly:
        return  # each would be built anew
    for dims in _with_one_of(case.dims, 0, 1):
        narrow = replace(
            case, dims=dims, tensors={name: TensorSpec(spec.regime) for name, spec in case.tensors.items()}
        )
        if _allowed(subject.operation, narrow):
            yield narrow


def many_rows(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield cases of more tiny rows than an axis of a grid may hold, where so large a launch takes no time."""
    return many_cases(subject.operation, [case.dtype]) if subject.platform.programs is None else []


def far(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield cases whose offsets reach 2**31 - 1, 2**31 and 2**31 + 1: between slices, and to where tensors begin.

    A device has all the memory between, so that its cases are of the narrowest dtype.
    """
    if paradigm_of(subject.implementation.paradigm).costly:
        return  # each would be built anew
    host = subject.platform.device == "cpu"
    dtype = case.dtype if host else min(subject.dtypes, key=lambda one: dtype_of(one).itemsize)
    slices = far_cases(subject.operation, [dtype], 31)
    yield from slices
    for one in slices[:1]:
        for offset in (2**31 - 1, 2**31, 2**31 + 1):
            tensors = {
                name: replace(spec, layout=f"offset{offset}")
                for name, spec in one.tensors.items()
                if "far" in spec.layout
            }
            yield replace(one, tensors={**one.tensors, **tensors})


def _grown(operation: Operation, case: Case, wave: int) -> Case:
    """Return ``case`` with its smallest sizes doubled until a tensor has more than ``wave`` elements, if one may.

    Sizes that are equal grow together, as those of operands and axes that must agree.
    """
    while _size(operation, case) <= wave:
        sizes = sorted({size for size in _flat(case.dims) if size > 1})
        doubled = (replace(case, dims=_doubled(case.dims, size)) for size in sizes)
        larger = (one for one in doubled if _allowed(operation, one) and _size(operation, one) > _size(operation, case))
        following = next(larger, None)
        if following is None:
            break
        case = following
    return case


def _flat(dims: Any) -> Iterator[int]:
    for value in dims.values():
        yield from value if isinstance(value, list) else [value]


def _doubled(dims: Any, size: int) -> dict[str, Any]:
    def twice(one: Any) -> Any:
        return [twice(part) for part in one] if isinstance(one, list) else one * 2 if one == size else one

    return {name: twice(value) for name, value in dims.items()}


def _allowed(operation: Operation, case: Case) -> bool:
    try:
        operation.check(case)
    except CaseError:
        return False
    return True


def _has_rows(operation: Operation, case: Case) -> bool:
    return any(sum(size > 1 for size in form.shape) > 1 for form in operation.forms(case).values())


def _size(operation: Operation, case: Case) -> int:
    return max(form.size for form in operation.forms(case).values())


def _with_one_of(dims: Any, *sizes: int) -> Iterator[dict[str, Any]]:
    for name, value in dims.items():
        for size in sizes:
            if isinstance(value, list):
                yield from ({**dims, name: [*value[:at], size, *value[at + 1 :]]} for at in range(len(value)))
            else:
                yield {**dims, name: size}
