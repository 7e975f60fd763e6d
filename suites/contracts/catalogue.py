"""Which contracts there are."""

from __future__ import annotations

from suites.contracts.cases import with_other_values, with_repeated_slices
from suites.contracts.contract import PLAIN, Contract

CONTRACTS = (
    PLAIN,
    Contract("deterministic"),
    Contract("surroundings"),
    Contract("fresh", cases=with_other_values),
    Contract("layouts", cases=with_repeated_slices),
)
"""In the order in which they are checked."""
