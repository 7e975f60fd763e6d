"""Timing at the end of a session, when nothing else runs any more: what ``--timed`` asks for."""

from __future__ import annotations

import time
from collections.abc import Callable

from reports.heat import SIZES
from suites.carryover.concluding import faults, timed, word
from suites.carryover.fields import Field
from suites.run import Run

SECONDS = 120.0
"""How long it may go on; whatever comes later is left out, and counted. Large cases come first."""


def time_all(run: Run, fields: list[Field], *, say: Callable[[str], None]) -> list[str]:
    """Time ``fields`` and record the heats; return what was wrong, and say a line for each."""
    order = sorted(fields, key=lambda field: -SIZES.index(field.size))
    found: list[str] = []
    started = time.monotonic()
    for number, field in enumerate(order, start=1):
        if time.monotonic() - started > SECONDS:
            say(f"{len(order) - number + 1} of {len(order)} races were left out after {SECONDS:.0f} s")
            break
        heat = timed(run, field)
        found += faults(heat)
        say(f"{field.id} {word(heat)} [{100 * number // len(order):3d}%]")
    return found
