"""Which contracts there are."""

from __future__ import annotations

from suites.contracts.cases import (
    and_beyond_a_wave,
    and_with_normal_values,
    and_with_rows,
    edges,
    far,
    many_rows,
    with_normal_values,
    with_other_values,
    with_plain_values,
    with_repeated_slices,
)
from suites.contracts.contract import PLAIN, Contract

CONTRACTS = (
    PLAIN,
    Contract("deterministic", cases=and_beyond_a_wave),
    Contract("surroundings", cases=and_with_normal_values),
    Contract("fresh", cases=with_other_values),
    Contract("layouts", cases=with_repeated_slices),
    Contract("edges", checked=False, cases=edges),
    Contract("many_rows", checked=False, cases=many_rows),
    Contract("far", checked=False, cases=far),
    Contract("rows", cases=and_with_rows),
    Contract("target", cases=and_with_rows),
    Contract("honest"),
    Contract("metamorphic", cases=with_plain_values),
    Contract("reworded", cases=with_normal_values),
    Contract("compiled_once"),
    Contract("tuned"),
    Contract("streams"),
    Contract("graphs"),
)
"""In the order in which they are checked."""
