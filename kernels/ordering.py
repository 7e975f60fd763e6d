"""What the contracts of sorting have in common: the order of elements, and where ties leave open which came first."""

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


def misplaced(x: np.ndarray, values: np.ndarray, indices: np.ndarray, axis: int) -> str:
    """Return how ``indices`` along ``axis`` fail to be different places of ``values`` in ``x``, or ""."""
    rows, found, places = (np.moveaxis(one, axis, -1) for one in (x, values, indices))
    outside = (places < 0) | (places >= rows.shape[-1])
    if outside.any():
        return f"indices: {places[outside][0]} is no place in rows of {rows.shape[-1]}"
    ascending = np.sort(places, -1)
    repeated = ascending[..., 1:][ascending[..., 1:] == ascending[..., :-1]]
    if repeated.size:
        return f"indices: {repeated[0]} comes twice in one row"
    there = np.take_along_axis(rows, places, -1)
    other = (there != found) & ((there == there) | (found == found))
    if other.any():
        return f"indices: {there[other][0]:.9g} is at {places[other][0]}, and not {found[other][0]:.9g}"
    return ""
