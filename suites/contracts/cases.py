"""What contracts make of a drawn case: the cases that they are checked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from golden.case import Case, CaseError, TensorSpec
from golden.dtypes import dtype_of
from golden.frozen import corpus
from golden.inputs import ORDINARY
from kernels.operation import Operation
from platforms.paradigm import paradigm_of
from suites.large.cases import far_cases, many_cases
from suites.subject import Subject

_MANY, _LONG = 64, 9
"""Elements of a tensor, and of what is reduced, among which some results are rounded."""


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
    """Yield a case that is ample, with normal values in every tensor: almost every sum of them is rounded."""
    yield replace(_ample(subject.operation, case), tensors={})


def and_beyond_a_wave(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with normal values, and so enlarged that its elements are more than the device has threads."""
    for one in with_normal_values(subject, case):
        yield one
        if subject.platform.wave and not paradigm_of(subject.implementation.paradigm).costly:
            yield _grown(subject.operation, one, subject.platform.wave)


def and_with_rows(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case, and unless that has several rows of ordinary values, one that has."""
    yield case
    ordinary = all(spec.regime in ORDINARY for spec in case.tensors.values())
    if not (ordinary and _is_ample(subject.operation, case)):
        yield from with_normal_values(subject, case)


def with_plain_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield a case that is ample, with normal values in every tensor, and with small whole numbers."""
    plain = replace(_ample(subject.operation, case), tensors={})
    yield plain
    yield replace(plain, tensors={name: TensorSpec("integers") for name in subject.operation.forms(plain)})


def edges(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with each of its dims in turn, and each axis of those that are shapes, of 0 elements and of 1."""
    if paradigm_of(subject.implementation.paradigm).costly:
        return  # each would be built anew
    for dims in _with_one_of(case.dims, 0, 1):
        narrow = replace(
            case, dims=dims, tensors={name: TensorSpec(spec.regime) for name, spec in case.tensors.items()}
        )
        if allowed(subject.operation, narrow):
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


def enlarged(case: Case) -> Iterator[Case]:
    """Yield the case with each of its dims in turn, those that are shapes as a whole, two, four and eight times."""
    for name, value in case.dims.items():
        for times in (2, 4, 8):
            larger = [one * times for one in value] if isinstance(value, list) else value * times
            yield replace(case, dims={**case.dims, name: larger})


def _grown(operation: Operation, case: Case, wave: int) -> Case:
    """Return ``case`` doubled until a tensor has more than ``wave`` elements, if it may: more of its independent rows.

    A contract that names none has its smallest sizes doubled, so that no axis gets a length that nobody asks for.
    """
    while largest(operation, case) <= wave:
        doubled = [replace(case, dims=dims) for dims in _doubled(case.dims)]
        larger = (one for one in doubled if allowed(operation, one) and _is_next(operation, case, one))
        following = next(larger, None)
        if following is None:
            break
        case = following
    return case


def _is_next(operation: Operation, case: Case, larger: Case) -> bool:
    """Whether ``larger`` has twice the independent rows of ``case`` and nothing else; any size, where it has none."""
    independent = operation.independent_axis(case)
    if independent is None:
        return largest(operation, larger) > largest(operation, case)
    _, along = independent
    return operation.shapes(larger) == {
        name: _with_twice(shape, along[name]) if name in along else shape
        for name, shape in operation.shapes(case).items()
    }


def _with_twice(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(size * 2 if at == axis % len(shape) else size for at, size in enumerate(shape))


def _doubled(dims: Any) -> Iterator[dict[str, Any]]:
    """Yield ``dims`` with all equal sizes doubled, the smallest first, then each dim or axis of a shape alone."""
    for size in [*sorted({size for size in _flat(dims) if size > 1}), 1]:
        yield {name: _twice(value, size) for name, value in dims.items()}
    for name, value in dims.items():
        if isinstance(value, list):
            yield from ({**dims, name: [*value[:at], one * 2, *value[at + 1 :]]} for at, one in enumerate(value))
        else:
            yield {**dims, name: value * 2}


def _flat(dims: Any) -> Iterator[int]:
    for value in dims.values():
        yield from value if isinstance(value, list) else [value]


def _twice(value: Any, size: int) -> Any:
    return [_twice(part, size) for part in value] if isinstance(value, list) else value * 2 if value == size else value


def allowed(operation: Operation, case: Case) -> bool:
    """Return whether ``case`` is one of ``operation``."""
    try:
        operation.check(case)
    except CaseError:
        return False
    return True


def _ample(operation: Operation, case: Case) -> Case:
    """Return ``case`` if there is enough in it for rounding to show, else a frozen one in its place that has."""
    if _is_ample(operation, case):
        return case
    frozen = sorted(corpus(operation.name), key=lambda one: one.dtype != case.dtype)
    others = (replace(one, dtype=case.dtype) for one in frozen)
    return next((one for one in others if allowed(operation, one) and _is_ample(operation, one)), case)


def _is_ample(operation: Operation, case: Case) -> bool:
    """Whether no tensor is empty, one has several rows and elements enough, and what is reduced is long enough."""
    shapes = operation.shapes(case)
    reduced = (shapes[name][axis] for name, axis in operation.reduced_axes(case).items())
    several = any(sum(size > 1 for size in shape) > 1 for shape in shapes.values())
    return (
        several
        and all(map(all, shapes.values()))
        and largest(operation, case) >= _MANY
        and min(reduced, default=_LONG) >= _LONG
    )


def largest(operation: Operation, case: Case) -> int:
    """Return how many elements the largest tensor of ``case`` has."""
    return max(form.size for form in operation.forms(case).values())


def _with_one_of(dims: Any, *sizes: int) -> Iterator[dict[str, Any]]:
    for name, value in dims.items():
        for size in sizes:
            if isinstance(value, list):
                yield from ({**dims, name: [*value[:at], size, *value[at + 1 :]]} for at in range(len(value)))
            else:
                yield {**dims, name: size}
