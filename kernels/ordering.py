"""What the contracts of sorting have in common: the order of elements, and where ties leave an index open."""

from __future__ import annotations

import numpy as np


def ordered(x: np.ndarray, axis: int, *, descending: bool) -> tuple[np.ndarray, np.ma.MaskedArray]:
    """Return ``x`` sorted along ``axis``, NaN as the largest of all, and where each element was.

    Of equal elements, zeros of both signs and all NaN among them, any may come first: their indices are masked.
    """
    rows = np.moveaxis(x, axis, -1)
    index = np.argsort(rows, -1, kind="stable")  # NumPy puts NaN last
    index = np.flip(index, -1) if descending else index
    values = np.take_along_axis(rows, index, -1)
    ahead, after = values[..., :-1], values[..., 1:]
    same = (ahead == after) | ((ahead != ahead) & (after != after))
    tied = np.zeros(values.shape, bool)
    tied[..., :-1] |= same
    tied[..., 1:] |= same
    indices = np.ma.MaskedArray(np.moveaxis(index, -1, axis), np.moveaxis(tied, -1, axis))
    return np.moveaxis(values, -1, axis), indices
