"""A refusal that holds no more: an implementation says of a case that it is not written for it, and is right there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from golden.case import Case
from golden.frozen import corpus
from golden.judge import judge_all
from kernels.registry import nothing
from reports.record import Record
from suites.contracts.cases import allowed, enlarged, largest
from suites.run import Run, mismatch
from suites.subject import Subject

TRIED = 3
"""Refused cases that it must be right in, all of them, before it is blamed."""

_LARGEST = 2**14
"""Elements of a tensor that such a case has at most."""


def stale_refusal(run: Run, subject: Subject, *, suite: str) -> Record | None:
    """Return the record that says so if ``subject`` is right in all cases tried that it refuses; None if it is not.

    A refusal is part of the kernel, and the same everywhere: what a platform lacks, ``needs`` says.
    """
    cases = list(islice(_refused(subject), TRIED))
    if not cases or not all(is_right(run, subject, case) for case in cases):
        return None
    said = subject.implementation.refuses(cases[0])
    message = f'contract refusals; it says "{said}" and is right in all {len(cases)} such cases that were tried'
    return run.state(subject, cases[0], suite=suite, verdict="dishonest", message=message)


def _refused(subject: Subject) -> Iterator[Case]:
    """Yield frozen cases that the implementation refuses, as they are or enlarged along one dim, with plain values."""
    if subject.implementation.refuses is nothing:
        return
    for case in dict.fromkeys(one for small in plain_cases(subject) for one in (small, *enlarged(small))):
        fits = allowed(subject.operation, case) and 0 < largest(subject.operation, case) <= _LARGEST
        if fits and subject.implementation.refuses(case):
            yield case


def plain_cases(subject: Subject) -> list[Case]:
    """Return the frozen cases of the subject's dtypes with normal values in contiguous tensors, none of them empty."""
    plain = [replace(case, tensors={}) for case in corpus(subject.operation.name) if case.dtype in subject.dtypes]
    return [case for case in dict.fromkeys(plain) if all(map(all, subject.operation.shapes(case).values()))]


def is_right(run: Run, subject: Subject, case: Case) -> bool:
    """Return whether ``case`` comes out right, without a record of it."""
    ran = run.execute(subject, case)
    if ran.status != "returned" or ran.damage or mismatch(subject, case, ran):
        return False
    standard = run.goldens.of(subject.operation, case)
    return judge_all(standard.goldens, [result.array for result in ran.results]).passes
