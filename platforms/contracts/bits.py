"""How outputs of calls that ask the same are compared: bit by bit, all NaNs taken for one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from golden.dtypes import decode, dtype_of
from platforms.outcome import Result


def differing(one: Sequence[Result], other: Sequence[Result]) -> str:
    """Return how many elements of results differ and where the first does, or "" if none does."""
    if [(part.dtype, part.shape) for part in one] != [(part.dtype, part.shape) for part in other]:
        return "number, dtypes or shapes of the results differ"
    for number, (left, right) in enumerate(zip(one, other, strict=True)):
        unequal = np.flatnonzero(_unequal(left, right))
        if unequal.size:
            index = [int(place) for place in np.unravel_index(unequal[0], left.array.shape)]
            where = f" of result {number}" if len(one) > 1 else ""
            return f"{unequal.size} of {left.array.size} elements{where} differ, first {index}"
    return ""


def _unequal(left: Result, right: Result) -> np.ndarray:
    bits = f"u{left.array.itemsize}"
    unequal = left.array.view(bits) != right.array.view(bits)
    if dtype_of(left.dtype).is_float and unequal.any():
        unequal &= ~(np.isnan(decode(left.array, left.dtype)) & np.isnan(decode(right.array, right.dtype)))
    return np.asarray(unequal)
