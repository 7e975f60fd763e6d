"""Is what ranks compute together right on each of them? Each collective over several ranks against golden results.

Each case is run twice, the second time with ranks that begin one after the other. Whatever all ranks get must have the
same bits on each, and both times; a rank that ends, raises or does not come back is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from suites.contracts.keeping import Keeping
from suites.contracts.ranks import OF_RANKS
from suites.run import Run
from suites.subject import Subject


def test_collectives(collective: Subject, conclude: Callable[..., None]) -> None:
    """No rank's result is further from golden than the contract's bound allows, and nothing else is touched."""
    conclude(collective, suite="collectives")


def test_contracts(held_together: Subject, run: Run, conclude: Callable[..., None]) -> None:
    """No contract is broken on drawn cases: what was in the tensors, lies around, or is sent with them is no matter."""
    conclude(held_together, suite="contracts", asking=Keeping(run, OF_RANKS))


def test_agreement(facing: tuple[str, Sequence[Subject]], agree: Callable[..., None]) -> None:
    """Ranks on one machine, or platform, and on another are no further apart than their bounds allow, rank by rank."""
    name, subjects = facing
    agree(subjects, name=name)
