"""Is every output right? Each implementation on each platform against the golden result of drawn cases."""

from __future__ import annotations

from collections.abc import Callable

from suites.subject import Subject


def test_equivalence(subject: Subject, conclude: Callable[..., None]) -> None:
    """No output is further from golden than the contract's bound allows, and nothing else is touched."""
    conclude(subject, suite="equivalence")
