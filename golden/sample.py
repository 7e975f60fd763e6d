"""Which rows of a huge result are judged, since there is neither memory nor time for all of it.

A row is everything at one index along an axis along which nothing depends on anything else, so that the golden result
of a row needs the inputs at its index alone.
"""

from __future__ import annotations

import math

import numpy as np

from golden.case import Case
from golden.inputs import HUGE, Words

DRAWN = 24
"""Rows that are drawn, at least, beside those that every sample has."""

ELEMENTS = 2**14
"""Elements that are judged, at least, however short the rows are."""

LONGEST = 2**19
"""Elements of the longest row of which a sample can be held."""

OVERFLOWS = (*(2**k for k in range(28, 33)),)
"""Flattened indices where 32 bits overflow, signed or unsigned, if they count elements or bytes: 8 a double."""

ROWS = (2**15, 2**16)
"""Row indices where 16 bits overflow, signed or unsigned, as the axes of a grid may have them."""


def sampled(case: Case, shape: tuple[int, ...], axis: int) -> np.ndarray | None:
    """Return the indices along ``axis`` of a result of ``shape`` that are judged, sorted; None for all of them.

    Only results of more than HUGE elements are sampled. The rows are the first and the last, those around every
    overflow, and some that are drawn; they depend on the case alone.
    """
    count = math.prod(shape)
    if count <= HUGE:
        return None
    axis %= len(shape)
    rows, inner = shape[axis], math.prod(shape[axis + 1 :])
    drawn = max(DRAWN, ELEMENTS * rows // count)
    chosen = {0, rows - 1, *(int(row) for row in Words(case.seed, "sampled rows").below(rows, drawn))}
    for row in (*(place // inner % rows for place in OVERFLOWS if place < count), *ROWS):
        chosen.update(near for near in (row - 1, row, row + 1) if 0 <= near < rows)
    return np.array(sorted(chosen), np.int64)


def unjudgeable(shape: tuple[int, ...], axis: int | None) -> str:
    """Return why a result of ``shape``, with nothing but ``axis`` to take rows along, cannot be judged, or ""."""
    if math.prod(shape) <= HUGE:
        return ""
    if axis is None:
        return f"a result of {math.prod(shape)} elements is judged on some of its rows, and this one has none apart"
    row = math.prod(shape) // shape[axis]
    return f"one row has {row} elements, and of {LONGEST} at most a sample can be judged" if row > LONGEST else ""
