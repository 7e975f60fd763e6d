"""A brief run: what somebody who waits for the answer leaves to a longer one.

Every implementation is judged on every platform all the same. What is asked beside that, contracts and agreement, asks
anew of much that has been answered: platforms of one device run one source, and what must be built for nearly every
case spends its time in a compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from platforms.paradigm import paradigm_of
from suites.subject import Subject

BUILT = "a brief run does not build it for contracts and agreement too; leave out --brief"
"""Why a subject is asked for its values alone."""

ELSEWHERE = "a brief run checks its contracts on one platform of a device; leave out --brief"
"""Why a subject is not held to contracts."""


def answering(subjects: Iterable[Subject]) -> list[Subject]:
    """Return those of ``subjects`` that a brief run holds against each other: what is not built for every case."""
    return [subject for subject in subjects if not _built(subject)]


def held(subjects: Iterable[Subject]) -> list[Subject]:
    """Return those of ``subjects`` that a brief run holds to contracts: of each source the first on a device."""
    first: dict[tuple[str, str, str], Subject] = {}
    for subject in answering(subjects):
        first.setdefault((subject.implementation.id, subject.platform.device, subject.platform.gateway), subject)
    return list(first.values())


def left_out(subjects: Sequence[Subject]) -> list[tuple[str, str]]:
    """Return what a brief run does not ask of ``subjects``, with the reason."""
    kept = {subject.id for subject in held(subjects)}
    return [(subject.id, BUILT if _built(subject) else ELSEWHERE) for subject in subjects if subject.id not in kept]


def _built(subject: Subject) -> bool:
    return paradigm_of(subject.implementation.paradigm).costly
