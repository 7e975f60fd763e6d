"""Do implementations and platforms agree with each other? All pairs of those of one operation, on the same cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from suites.subject import Subject


def test_agreement(rivals: Sequence[Subject], agree: Callable[[Sequence[Subject]], None]) -> None:
    """No two outputs are further apart than the bounds of both allow; what is equal, and what differs, is recorded."""
    agree(rivals)
