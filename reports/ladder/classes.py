"""What became of an optimization: what it does on one device, and whether that carries over to another.

What was timed is faster, neutral or slower where the whole interval of its ratio lies beyond, within or below the
margin of equivalence, so that a class is never a matter of chance alone, and unresolved otherwise: between neutral and
faster say. An interval that straddles 1 and is wider than the margin is always unresolved. By how much ratios differ
from run to run is in the interval too, so that what is near the margin is unresolved in one run or in two, and seldom
one thing today and another tomorrow.
"""

from __future__ import annotations

from reports.ladder.interval import Interval

MARGIN = 1.05
"""The ratio up to which a difference is no gain and no loss: what memory's placement alone makes from run to run."""

FASTER, NEUTRAL, SLOWER, UNRESOLVED = "faster", "neutral", "slower", "unresolved"

OBSTACLES = ("wrong", "does not compile", "does not fit")
"""Why something is not timed at all that says of a device what an optimization is worth there."""

CLASSES = ("carries over", "gained", "neutral", "slower", "reversed", *OBSTACLES, UNRESOLVED)
"""What may become of an optimization on the way from one device to another.

``carries over``: it pays on both. ``gained``: it pays on the second alone, and costs nothing on the first. ``neutral``:
it does not pay on the second, and costs nothing there. ``slower``: it costs on the second, and did not pay on the first
either. ``reversed``: it pays on one and costs on the other.
"""


def standing(interval: Interval) -> str:
    """Return "faster", "neutral", "slower" or "unresolved": what the ratio of a base to its optimization means."""
    if interval.low > MARGIN:
        return FASTER
    if interval.high < 1 / MARGIN:
        return SLOWER
    return NEUTRAL if interval.low >= 1 / MARGIN and interval.high <= MARGIN else UNRESOLVED


def carried(here: str, there: str) -> str:
    """Return the class of an optimization, of :data:`CLASSES`, from its standing on two devices.

    Either may be one of :data:`OBSTACLES`. What stands in its way there is the answer, and what did so here leaves
    nothing to carry over.
    """
    if there in OBSTACLES:
        return there
    if UNRESOLVED in (here, there) or here in OBSTACLES:
        return UNRESOLVED
    if {here, there} == {FASTER, SLOWER}:
        return "reversed"
    if there == FASTER:
        return "carries over" if here == FASTER else "gained"
    return there
