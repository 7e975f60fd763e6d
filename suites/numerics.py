"""How the test of a platform's numerical profile ends: passed, or failed with every rule that an answer breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from platforms.platform import Platform
from suites.run import Run


def conclude(run: Run, platform: Platform, *, note: Callable[[str, object], None]) -> None:
    """Hold the profile of ``platform`` against what is declared; the test ends accordingly.

    ``note`` is pytest's ``record_property``: the word that the progress line shows travels with the report.
    """
    profile = run.profile(platform)
    if lost := run.pool.why_lost(platform):
        pytest.skip(lost)
    if profile is None:
        pytest.skip("how a platform computes is not asked in a run of one case, or in one process")
    broken = [f"{one['machine']}: {one['breaks']}" for one in profile["answers"] if one["breaks"]]
    note("word", f"{len(broken)} NOT AS DECLARED" if broken else f"{len(profile['answers'])} as declared")
    if broken:
        pytest.fail("\n  ".join([f"{platform.name} does not compute as its files declare:", *broken]), pytrace=False)
