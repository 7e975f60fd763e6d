"""What is said of a dtype that a device takes and keeps with half of its bits.

Nobody can hold the device to such a dtype's own arithmetic; indices of it are right all the same, as long as they fit.
"""

from __future__ import annotations

_KEPT = "it is kept"

_AS: dict[str, dict[float, str]] = {
    "float64": {1 + 2.0**-23: "as float32"},
    "int64": {3: "as int32, which wraps around", 2**31 - 1: "as int32, which saturates"},
}
"""What becomes of the number that is tried, of each dtype, where the device keeps it as another."""

WIDE = {"float64": 1 + 2.0**-23 + 2.0**-52, "int64": 2**62 + 3}
"""The number of each dtype that is tried: narrower dtypes do not have it."""


def narrowing(dtype: str, back: float) -> str:
    """Return what it says of ``dtype`` that a device gives ``back`` where it was to keep the number in :data:`WIDE`."""
    return f"{_KEPT} {_AS[dtype].get(back, 'with fewer bits')}: {WIDE[dtype]} times 1 gives {back}"


def is_narrowed(reason: str) -> bool:
    """Whether ``reason``, why a platform cannot do a dtype, is that it keeps it with fewer bits."""
    return reason.startswith(_KEPT)
