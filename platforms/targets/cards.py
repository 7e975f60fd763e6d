"""Cards whose compilers are not here: what a launch may take there, held against what another compiler made of it.

Threads follow from the warps that a launch asks for, and the grid is that of the typical case; what is taken of on-chip
memory is what the compiler of :data:`STAND_IN` takes, so that it may be otherwise there. The limits are those of the
vendors' files, none of which was seen on a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from platforms.targets.audit import Audit, Use
from platforms.targets.reading import Reading
from platforms.vendor import Card, Vendor
from platforms.vendors import VENDORS

STAND_IN = "sm_80"
"""The architecture whose compiler stands in: what programs are written for first."""

_COMPILED = ("nvidia", "amd")
"""Vendors whose architectures are compiled for, so that nothing needs to stand in."""


def absent() -> Iterator[tuple[str, Card]]:
    """Yield title and card of each vendor without a compiler here of whose cards some limit is known."""
    for platform in VENDORS:
        vendor: Vendor = platform.vendor
        for card in vendor.cards if vendor.name not in _COMPILED else ():
            if card.threads or card.shared or _grid(card):
                maker = vendor.title.partition(" ")[0]
                yield card.name if card.name.startswith(maker) else f"{maker} {card.name}", card


def _grid(card: Card) -> tuple[int, ...]:
    """Return the limits of a grid; a grid of as many programs as there are cores is what pays there, and no limit."""
    return () if card.grid and card.grid[0] <= (card.units or 0) else card.grid


def obstacles(card: Card, reading: Reading, grid: Sequence[int] = ()) -> Iterator[str]:
    """Yield why a launch would not fit ``card``, such as "1024 threads, limit 512".

    ``reading`` is that of :data:`STAND_IN`; ``grid`` the programs along each axis, where they are known.
    """
    warps = (reading.threads or 0) // (reading.lanes or 1)
    amounts = [
        (warps * (card.lanes or 0), "threads", card.threads),
        (reading.shared or 0, "bytes of on-chip memory", card.shared),
        *(
            (taken, f"programs along {axis}", limit)
            for axis, taken, limit in zip("xyz", grid, _grid(card), strict=False)
        ),
    ]
    yield from (f"{taken} {what}, limit {limit}" for taken, what, limit in amounts if limit and taken > limit)


def checked(audit: Audit, card: Card) -> Iterator[tuple[Use, tuple[str, ...]]]:
    """Yield what is launched on :data:`STAND_IN`, each with why it would not fit ``card``; empty where it would."""
    for use in audit.uses:
        reading = audit.compiled[use.key].readings.get(STAND_IN)
        if STAND_IN in use.targets and reading and not (reading.error or reading.unfinished):
            yield use, tuple(obstacles(card, reading, use.grid))


def misfits(audit: Audit, name: str, card: Card) -> Iterator[str]:
    """Yield a sentence for each kernel that would not fit a card: in some of its configurations, or in none."""
    found: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for use, why in checked(audit, card):
        found.setdefault((use.implementation, use.dtype, audit.compiled[use.key].kernel), []).append(why)
    for (implementation, dtype, kernel), several in found.items():
        bad = [why for why in several if why]
        if bad:
            reasons = "; ".join(dict.fromkeys(reason for why in bad for reason in why))
            left = "" if len(several) == 1 else _left(len(several) - len(bad), len(several))
            yield f"{implementation} {dtype}: {kernel} would not fit {name}: {reasons}{left}"


def _left(fitting: int, number: int) -> str:
    return f"; {fitting} of {number} configurations remain" if fitting else f"; none of {number} configurations remains"
