"""Does an implementation break what runs around it? Each on each platform, held to every contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from suites.contracts.catalogue import CONTRACTS
from suites.contracts.keeping import Keeping
from suites.contracts.lacks import stale_lacks
from suites.run import Run
from suites.subject import Subject


def test_contracts(held: Subject, run: Run, conclude: Callable[..., None]) -> None:
    """No contract is broken on drawn cases."""
    conclude(held, suite="contracts", asking=Keeping(run, CONTRACTS))


def test_lacks(run: Run, lacking: Sequence[Subject]) -> None:
    """Nothing that is left out because its platform lacks what it needs is right there."""
    if not lacking:
        pytest.skip("no platform here lacks what an implementation needs")
    stale = list(stale_lacks(run, lacking))
    assert not stale, "\n".join(stale)
