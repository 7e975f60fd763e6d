"""What a contract is on this side of a worker: a name, and on which cases it is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from golden.case import Case
from suites.subject import Subject


def _itself(subject: Subject, case: Case) -> Iterable[Case]:
    return (case,)


@dataclass(frozen=True)
class Contract:
    """One thing that an implementation must keep to.

    Attributes:
        name: what it is called in records.
        checked: whether :mod:`platforms.contracts` has a check of this name; else running its cases is all.
        cases: makes, of a drawn case, those that it is checked on.
    """

    name: str
    checked: bool = True
    cases: Callable[[Subject, Case], Iterable[Case]] = _itself


PLAIN = Contract("plain", checked=False)
"""The values are right when nothing is varied: where they are not, nothing can be said of other contracts."""
