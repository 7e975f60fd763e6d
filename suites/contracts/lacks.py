"""A lack that is none: a platform says that it has no matrix unit, say, and a kernel that needs one is right there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from suites.contracts.refusals import is_right, plain_cases
from suites.run import Run
from suites.subject import Subject

TRIED = 2
"""Cases that a kernel must be right in, all of them, before its platform is doubted."""


def stale_lacks(run: Run, lacking: Iterable[Subject]) -> Iterator[str]:
    """Yield, a sentence each, what platforms say they lack, and have: one kernel is tried for each paradigm and lack.

    ``lacking`` are the implementations that were left out for that.
    """
    apart = {
        (one.platform.name, one.platform.lack(one.implementation.needs), one.implementation.paradigm): one
        for one in lacking
    }
    for (_, lack, _), subject in apart.items():
        cases = plain_cases(subject)[:TRIED]
        if cases and all(is_right(run, subject, case) for case in cases):
            yield f"{lack}, it says; {subject.implementation.id}, which needs that, is right there in {cases[0].line}"
