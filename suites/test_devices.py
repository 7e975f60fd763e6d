"""Do all devices of a machine compute the same? The same cases on each, bit for bit: a bad card shows itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from suites.subject import Subject


def test_devices(residents: Sequence[Subject], alike: Callable[[Sequence[Subject]], None]) -> None:
    """No device of a platform answers otherwise than the others of its kind, or than itself a moment before."""
    alike(residents)
