"""Where the elements of a logical tensor lie in its storage.

A layout is a short text, words joined by ``+``:

==============  ==========================================================================
``contiguous``  row-major, nothing between the elements (stands alone)
``transposed``  the last two axes change places in memory
``sliced<k>``   every k-th element of the innermost axis, as ``x[..., ::k]`` would leave it
``padded<k>``   k unused elements after each row, as a slice of columns would leave it
``offset<k>``   the tensor begins k elements into its storage
``expanded<a>`` axis a has stride 0: one slice, seen many times
``far<e>``      slices of the outermost axis lie so far apart that the last one reaches past 2**e elements
==============  ==========================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

_WORD = re.compile(r"(contiguous|transposed)|(sliced|padded|offset|expanded|far)(\d+)")
_ORDER = ("transposed", "sliced", "padded", "offset", "expanded", "far")
_FARTHEST = 36  # 2**36 elements are 64 GiB of the smallest


class LayoutError(ValueError):
    """A layout's text is malformed, or does not fit the shape."""


@dataclass(frozen=True)
class Placement:
    """A tensor's place in its storage; all in elements. ``extent`` is how many elements the storage must hold."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    extent: int


def parse(layout: str) -> dict[str, int]:
    """Return the words of ``layout`` with their numbers; raises LayoutError for a malformed one."""
    words: dict[str, int] = {}
    for word in layout.split("+"):
        match = _WORD.fullmatch(word)
        if not match:
            known = "contiguous, transposed, sliced<k>, padded<k>, offset<k>, expanded<axis>, far<exponent>"
            raise LayoutError(f"unknown word {word!r} in layout {layout!r}; there are {known}, joined by '+'")
        name = match[1] or match[2]
        if name in words:
            raise LayoutError(f"layout {layout!r} says {name!r} twice")
        words[name] = int(match[3] or 0)
    if "contiguous" in words and len(words) > 1:
        raise LayoutError(f"layout {layout!r}: 'contiguous' stands alone")
    if words.get("sliced", 1) < 1:
        raise LayoutError(f"layout {layout!r}: sliced<k> needs k of 1 or more")
    if words.get("far", 0) > _FARTHEST:
        raise LayoutError(f"layout {layout!r}: far<e> takes an exponent of up to {_FARTHEST}")
    return words


def compose(**words: int | None) -> str:
    """Return the layout text of ``words`` (None leaves one out) in the canonical order; ``contiguous`` for none."""
    given = [name if name == "transposed" else f"{name}{words[name]}" for name in _ORDER if words.get(name) is not None]
    return "+".join(given) or "contiguous"


def expanded_axis(layout: str) -> int | None:
    """Return the axis that ``layout`` expands, or None."""
    return parse(layout).get("expanded")


def place(shape: tuple[int, ...], layout: str) -> Placement:
    """Return where a tensor of ``shape`` lies under ``layout``; raises LayoutError when the two do not fit."""
    words, rank = parse(layout), len(shape)
    if rank < 2 and ("transposed" in words or "padded" in words):
        raise LayoutError(f"layout {layout!r} needs two axes or more, and the shape is {shape}")
    if words.get("expanded", 0) >= rank and "expanded" in words:
        raise LayoutError(f"layout {layout!r} expands axis {words['expanded']}, and the shape is {shape}")
    if rank == 0 and "sliced" in words:
        raise LayoutError(f"layout {layout!r} needs an axis, and the shape is {shape}")
    order = list(range(rank))
    if "transposed" in words:
        order[-1], order[-2] = order[-2], order[-1]
    strides, pitch = [0] * rank, words.get("sliced", 1)
    for position, axis in enumerate(reversed(order)):
        strides[axis] = 0 if axis == words.get("expanded") else pitch
        pitch *= 1 if axis == words.get("expanded") else max(shape[axis], 1)
        if position == 0:
            pitch += words.get("padded", 0)
    if "far" in words:
        outer = next((axis for axis in order if shape[axis] > 1 and strides[axis]), None)
        if outer is None:
            raise LayoutError(f"layout {layout!r} needs an axis of two elements or more, and the shape is {shape}")
        strides[outer] = max(strides[outer], _far_stride(shape, strides, outer, 2 ** words["far"]))
    offset = words.get("offset", 0)
    span = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if 0 not in shape else 0
    return Placement(tuple(shape), tuple(strides), offset, offset + span)


def _far_stride(shape: tuple[int, ...], strides: list[int], outer: int, reach: int) -> int:
    """Return the stride of axis ``outer`` with which its last slice begins at or just past ``reach``.

    The second of two lies across it instead: a stride of 2**31 would no longer fit into 32 bits, and a kernel that is
    handed it would compute with 64, where others of its launches do not.
    """
    if shape[outer] > 2:
        return -(-reach // (shape[outer] - 1))
    slice_ = sum(
        (size - 1) * stride for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)) if axis != outer
    )
    return reach - slice_ // 2


def once(strides: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index that takes every element of a tensor once: of an axis of stride 0 the first slice alone."""
    return tuple(slice(None) if stride else slice(1) for stride in strides)


def view(storage: np.ndarray, placement: Placement) -> np.ndarray:
    """Return the tensor inside one-dimensional ``storage`` as a view; nothing is copied."""
    if 0 in placement.shape:
        return np.empty(placement.shape, storage.dtype)
    strides = tuple(stride * storage.itemsize for stride in placement.strides)
    return as_strided(storage[placement.offset :], placement.shape, strides)
