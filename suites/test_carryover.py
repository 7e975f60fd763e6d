"""Which optimizations pay on this machine? Each is timed beside what it optimizes, after both were judged right.

Not part of an ordinary run, since that would be in the way: ``python -m pytest suites/test_carryover.py``.
"""

from __future__ import annotations

from collections.abc import Callable

from suites.carryover.concluding import conclude
from suites.carryover.fields import Field
from suites.run import Run


def test_carryover(field: Field, run: Run, record_property: Callable[[str, object], None]) -> None:
    """Every implementation that is timed is right on the very case, and none fails."""
    conclude(run, field, note=record_property)
