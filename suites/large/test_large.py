"""Do indices past 2**31 work? Few elements far apart, and results too large to be held, judged on sampled rows.

Not part of an ordinary run, since it takes gigabytes and a while: ``python -m pytest suites/large``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from suites.large.cases import FAR, far_cases, huge_cases, many_cases
from suites.subject import Subject


@pytest.mark.parametrize("exponent", FAR)
def test_far(subject: Subject, exponent: int, conclude: Callable[..., None]) -> None:
    """Each tensor in turn has slices 2**31 elements and more apart."""
    conclude(subject, suite="large", cases=far_cases(subject.operation, subject.dtypes, exponent))


def test_huge(subject: Subject, conclude: Callable[..., None]) -> None:
    """The result has more than 2**31 elements."""
    conclude(subject, suite="large", cases=huge_cases(subject.operation, subject.dtypes))


def test_many_rows(subject: Subject, conclude: Callable[..., None]) -> None:
    """There are more rows than an axis of a grid may hold."""
    if subject.platform.programs is not None:
        pytest.skip(f"platform {subject.platform.name} is for launches of up to {subject.platform.programs} programs")
    conclude(subject, suite="large", cases=many_cases(subject.operation, subject.dtypes))
