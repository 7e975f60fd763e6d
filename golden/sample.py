"""Which rows of a huge result are judged, since there is neither memory nor time for all of it."""

from __future__ import annotations

import math

import numpy as np

from golden.case import Case
from golden.inputs import HUGE, Words

DRAWN = 24
"""Rows that are drawn, beside the first and the last and those around the places where indices overflow."""

OVERFLOWS = (2**31, 2**32)
"""Flattened indices, in elements, at which a signed or an unsigned index of 32 bits overflows."""


def sampled(case: Case, shape: tuple[int, ...], axis: int) -> np.ndarray | None:
    """Return the indices along ``axis`` of a result of ``shape`` that are judged, sorted; None for all of them.

    Only results of more than HUGE elements are sampled. The rows depend on the case alone.
    """
    if math.prod(shape) <= HUGE:
        return None
    axis %= len(shape)
    inner, outer = math.prod(shape[axis + 1 :]), shape[axis]
    rows = {0, outer - 1, *(int(row) for row in Words(case.seed, "sampled rows").below(outer, DRAWN))}
    for place in OVERFLOWS:
        row = place // inner % outer if place < math.prod(shape) else 0
        rows.update(near for near in (row - 1, row, row + 1) if 0 <= near < outer)
    return np.array(sorted(rows), np.int64)
