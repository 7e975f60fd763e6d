"""Does an implementation break what runs around it? Each on each platform, held to every contract."""

from __future__ import annotations

from collections.abc import Callable

from suites.contracts.catalogue import CONTRACTS
from suites.contracts.keeping import Keeping
from suites.run import Run
from suites.subject import Subject


def test_contracts(subject: Subject, run: Run, conclude: Callable[..., None]) -> None:
    """No contract is broken on drawn cases."""
    conclude(subject, suite="contracts", asking=Keeping(run, CONTRACTS))
