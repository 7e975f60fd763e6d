"""Elements moved, and nothing computed: every error moves with its element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from golden.enclosure.array import Enclosure, shared
from golden.enclosure.errors import Row, rowwise
from golden.exact import windows as exact_windows


def swapped(x: Any, first: int, second: int) -> Any:
    """Return ``x`` with two axes in each other's place."""
    return _moved(x, lambda array: np.swapaxes(array, first, second))


def reshaped(x: Any, shape: Sequence[int]) -> Any:
    """Return ``x`` with its elements, in row-major order, in another shape."""
    return _moved(x, lambda array: array.reshape(tuple(shape)))


def squeezed(x: Any, axis: int) -> Any:
    """Return ``x`` without ``axis``, which has length 1."""
    return _moved(x, lambda array: np.squeeze(array, axis))


def repeated(x: Any, times: int, axis: int) -> Any:
    """Return ``x`` with each slice along ``axis`` ``times`` times in a row."""
    return _moved(_shared(x), lambda array: np.repeat(array, times, axis))


def broadcast(x: Any, shape: Sequence[int]) -> Any:
    """Return ``x`` repeated along its axes of 1 and along new leading ones, to ``shape``."""
    return _moved(_shared(x), lambda array: np.broadcast_to(array, tuple(shape)))


def concatenated(parts: Sequence[Any], axis: int) -> Any:
    """Return ``parts``, enclosures or plain arrays alike, one after the other along ``axis``."""
    first = parts[0]
    if not isinstance(first, Enclosure):
        return np.concatenate(parts, axis)
    value = np.concatenate([part.value for part in parts], axis)

    def joined(rows: Sequence[Any]) -> Any:
        return np.concatenate([np.broadcast_to(row, part.shape) for row, part in zip(rows, parts, strict=True)], axis)

    plain = all(type(part.tail) is float for part in parts)
    tail = 0.0 if plain else joined([part.tail for part in parts])
    if all(part.is_exact for part in parts):
        return Enclosure(value, first.precision, tail=tail)
    errors = np.stack([joined([part.row(row) for part in parts]) for row in range(4)])
    return Enclosure(value, first.precision, tail=tail, errors=errors)


def taken(x: Any, index: Any) -> Any:
    """Return ``x[index]``, for any index that NumPy takes."""
    return _moved(x, lambda array: array[index])


def windows(x: Any, size: tuple[int, ...], *, stride: int, padding: int) -> Any:
    """Return what a convolution multiplies, with zeros around the image: see :func:`golden.exact.windows`."""
    return _moved(x, lambda array: exact_windows(array, size, stride=stride, padding=padding))


def _moved(x: Any, move: Callable[[np.ndarray], np.ndarray]) -> Any:
    if not isinstance(x, Enclosure):
        return move(x)
    value = move(x.value)
    tail = x.tail if type(x.tail) is float else move(np.broadcast_to(x.tail, x.shape))
    if type(x.errors) is float:
        return Enclosure(value, x.precision, tail=tail)

    def moved(row: Row) -> Row:
        return row if type(row) is float else move(np.broadcast_to(row, x.shape))

    return Enclosure(value, x.precision, tail=tail, errors=rowwise(moved, x.errors, rank=np.ndim(value)))


def _shared(x: Any) -> Any:
    """Return ``x`` with errors as of elements that come more than once."""
    if not isinstance(x, Enclosure) or type(x.errors) is float:
        return x
    return Enclosure(x.value, x.precision, tail=x.tail, errors=shared(x.errors))
