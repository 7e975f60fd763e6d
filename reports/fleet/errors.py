"""How errors are spread: of each implementation on each place, how many records have which share of the bound."""

from __future__ import annotations

from reports.fleet.loading import Fleet

EDGES = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 10.0)
"""The largest share of the bound in each bin but the last, which has all beyond; the first has exact results alone."""

_BIN = (
    f"CASE {' '.join(f'WHEN share <= {edge} THEN {place}' for place, edge in enumerate(EDGES))} ELSE {len(EDGES)} END"
)

_QUERY = f"""
    SELECT implementation, place, {_BIN} AS bin, count(*) AS number
    FROM latest WHERE share IS NOT NULL GROUP BY ALL
"""


def errors(fleet: Fleet) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return by implementation and place how many records of the last run are in each bin of :data:`EDGES`."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in fleet.rows(_QUERY):
        counts = found.setdefault((row["implementation"], row["place"]), [0] * (len(EDGES) + 1))
        counts[row["bin"]] = row["number"]
    return {where: tuple(counts) for where, counts in found.items()}
