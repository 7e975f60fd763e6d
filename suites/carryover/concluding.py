"""How one race ends: with the best time, or with what is wrong on the very case."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from platforms.pool import PlaceLost
from reports.heat import TIMED, Arm, Heat
from suites.carryover.fields import Field
from suites.carryover.racing import LEAST_ROUNDS, raced
from suites.run import Run

MOST_ROUNDS = 200


def conclude(run: Run, field: Field, *, note: Callable[[str, object], None]) -> None:
    """Time ``field`` and end the test accordingly; ``note`` is pytest's ``record_property``."""
    note("heat", field.id)
    try:
        heat = timed(run, field)
    except PlaceLost as lost:
        pytest.skip(str(lost))
    note("word", word(heat))
    if found := faults(heat):
        pytest.fail("\n".join(["", *found, heat.case]), pytrace=False)
    if not any(arm.status == TIMED for arm in heat.arms):
        reasons = dict.fromkeys(f"{arm.name}: {arm.message}" for arm in heat.arms)
        pytest.skip("; ".join(reasons) or "there is nothing to time")


def timed(run: Run, field: Field) -> Heat:
    """Return the heat of ``field``, which has been recorded; raises PlaceLost.

    How many rounds there are is for the Hypothesis profile to say, as it says of cases.
    """
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, settings().max_examples))
    # What the platform is must be known, and not how it computes, which would take longer than all races.
    described = run.pool.describe(field.platform)
    run.bundle.update_environment(f"platform {field.platform.name}", described)
    heat = raced(run.pool, field, lacking=described["capabilities"], rounds=rounds)
    if lost := run.pool.why_lost(field.platform):
        raise PlaceLost(lost)
    run.bundle.append_heat(heat)
    return heat


def faults(heat: Heat) -> list[str]:
    """Return, a sentence each, what is wrong with implementations that were to be timed."""
    return [f"{line} on {heat.platform}" for arm in heat.arms for line in _faults(arm, len(heat.spins))]


def _faults(arm: Arm, rounds: int) -> Iterator[str]:
    if arm.status in ("wrong", "failed"):
        yield f"{arm.status.upper()}: {arm.name}: {arm.message}"
    if arm.compilations:
        yield f"RECOMPILED: {arm.name}: compiled {arm.compilations} times anew in {rounds} rounds of equal calls"


def word(heat: Heat) -> str:
    """Return what the progress line says: how many were timed, and the fastest."""
    times = {arm.name: statistics.median(arm.seconds) for arm in heat.arms if arm.status == TIMED}
    if not times:
        return "not timed"
    best = min(times, key=lambda name: times[name])
    return f"{len(times)} of {len(heat.arms)} timed, {len(heat.spins)} rounds; {best} {1e6 * times[best]:.1f} us"
