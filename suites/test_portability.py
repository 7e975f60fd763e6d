"""What would become of a kernel on hardware that is not here? Compiled for it, and held against its limits.

Not part of an ordinary run, since a whole catalogue takes minutes the first time: ``python -m pytest
suites/test_portability.py``. Nothing is run and so nothing passes: it ends as skipped, and says what was found.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("triton", reason="what compiles for absent hardware here is Triton")

from platforms.targets.audit import Audit
from platforms.targets.reading import NOT_KNOWN


def test_portability(portability: Callable[[], Audit], record_property: Callable[[str, object], None]) -> None:
    """Every launch of what was asked for is compiled for every target, or it is said why not."""
    made = portability()
    record_property("fact", "targets")
    readings = [reading for one in made.compiled.values() for reading in one.readings.values()]
    known = {reading.target for reading in readings if reading.verdict != NOT_KNOWN}
    unknown = [target for target in made.targets if target not in known]
    assert not unknown, f"nobody knows anything of {', '.join(unknown)}"
    pytest.skip(f"nothing was run: {len(readings)} compilations for {len(made.targets)} targets that are not here")
