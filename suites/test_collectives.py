"""Is what ranks compute together right on each of them? Each collective over several ranks against golden results.

Each case is run twice, the second time with ranks that begin one after the other. Whatever all ranks get must have the
same bits on each, and both times; a rank that ends, raises or does not come back is named.
"""

from __future__ import annotations

from collections.abc import Callable

from suites.subject import Subject


def test_collectives(collective: Subject, conclude: Callable[..., None]) -> None:
    """No rank's result is further from golden than the contract's bound allows, and nothing else is touched."""
    conclude(collective, suite="collectives")
