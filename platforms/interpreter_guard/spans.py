"""The memory that a launch may touch: the tensors that it was given as arguments, and nothing around or between them.

A tensor is a view of a storage. What counts is the span of the view, from its first element to the end of its last, not
the storage. Loads may touch the whole span; stores and atomics only elements, since a gap between strided rows belongs
to somebody else. Which argument a pointer was made of is not known: a pointer that leaves one argument and arrives in
another is in bounds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from platforms.interpreter_guard.errors import OutOfBounds
from platforms.pages import sparse_zeros


@dataclass(frozen=True)
class View:
    """One tensor argument: its name, and the addresses from ``begin`` up to but not including ``end``."""

    name: str
    begin: int
    end: int
    tensor: torch.Tensor

    @property
    def size(self) -> int:
        return self.end - self.begin

    def __str__(self) -> str:
        return f"tensor {self.name!r} of {self.size} bytes"


@dataclass(frozen=True, eq=False)
class Area:
    """Views that overlap, as one range of addresses.

    ``unit`` divides the size of every element and every distance between views; ``elements`` says of each byte whether
    it belongs to an element, None if all do.
    """

    begin: int
    end: int
    views: tuple[View, ...]
    unit: int
    elements: np.ndarray | None

    def describe(self, address: int) -> str:
        """Return where ``address`` is: which byte of which tensor."""
        view = next((one for one in self.views if one.begin <= address < one.end), self.views[0])
        return f"byte {address - view.begin} of {view}"

    def offsets(self, addresses: np.ndarray) -> np.ndarray:
        """Return ``addresses``, uint64, as byte offsets in this area, int64."""
        return (addresses - np.uint64(self.begin)).view(np.int64)


class Spans:
    """What the tensors among ``arguments``, pairs of name and value, let a launch touch."""

    def __init__(self, arguments: Iterable[tuple[str, Any]]) -> None:
        views = [view for name, value in arguments for view in _views(name, value)]
        self._areas = [_area(group) for group in _overlapping(views)]
        self._begins = [area.begin for area in self._areas]

    def locate(self, kind: str, addresses: np.ndarray, size: int, program: object) -> list[tuple[Area, np.ndarray]]:
        """Return the areas that ``addresses`` (uint64, not empty) lie in, each with its own addresses.

        ``kind`` is "load", "store" or "atomic", ``size`` the bytes that each of the addresses stands for. Raises
        OutOfBounds, which counts the lanes that are outside, and says how far and of what the first of them is.
        """
        first, last = int(addresses.min()), int(addresses.max())
        area = self._at(first)
        if area is not None and last + size <= area.end:
            found = [(area, addresses)]
        else:
            found = self._split(kind, addresses, size, program)
        if kind != "load":
            for area, inside in found:
                _refuse_gaps(kind, area, inside, program)
        return found

    def _at(self, address: int) -> Area | None:
        index = bisect_right(self._begins, address) - 1
        return self._areas[index] if index >= 0 else None

    def _split(self, kind: str, addresses: np.ndarray, size: int, program: object) -> list[tuple[Area, np.ndarray]]:
        index = np.searchsorted(np.array(self._begins, np.uint64), addresses, side="right") - 1
        ends = np.array([area.end for area in self._areas] + [0], np.uint64)
        outside = (index < 0) | (addresses > ends[index] - np.uint64(size))
        if outside.any():
            where = self._distance(int(addresses[outside][0]), size)
            raise OutOfBounds(
                f"{kind} out of bounds: {_lanes(outside.sum(), outside.size)}, the first {where}, program {program}"
            )
        return [(self._areas[one], addresses[index == one]) for one in np.unique(index)]

    def _distance(self, address: int, size: int) -> str:
        address -= (address >> 63) << 64  # an offset below address 0 wraps around
        views = [view for area in self._areas for view in area.views]
        if not views:
            return f"at address {address:#x}, of a launch without any tensor that has elements"
        past = {view: address + size - view.end for view in views}
        nearest = min(views, key=lambda view: max(past[view], view.begin - address))
        if past[nearest] > 0:
            return f"{past[nearest]} bytes past the end of {nearest}"
        return f"{nearest.begin - address} bytes before {nearest}"


def _refuse_gaps(kind: str, area: Area, addresses: np.ndarray, program: object) -> None:
    if area.elements is None:
        return
    inside = area.elements[area.offsets(addresses)]
    if not inside.all():
        where = area.describe(int(addresses[~inside][0]))
        lanes = _lanes((~inside).sum(), inside.size)
        raise OutOfBounds(
            f"{kind} out of bounds: {lanes}, the first in a gap between elements, at {where}, program {program}"
        )


def _lanes(count: int, total: int) -> str:
    return f"{count} of {total} lanes"


def _views(name: str, value: Any) -> Iterator[View]:
    """Yield the views in one argument: a tensor, a tuple of arguments, or something that Triton wraps around one."""
    if isinstance(value, (tuple, list)):
        for index, one in enumerate(value):
            yield from _views(f"{name}[{index}]", one)
        return
    while value is not None and not isinstance(value, torch.Tensor):
        value = getattr(value, "base", None)
    if value is not None and value.numel():
        last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
        begin = value.data_ptr()
        yield View(name, begin, begin + (last + 1) * value.element_size(), value)


def _overlapping(views: list[View]) -> list[list[View]]:
    """Group the views so that those of different groups share no byte; groups and their members by address."""
    groups: list[list[View]] = []
    end = 0
    for view in sorted(views, key=lambda one: (one.begin, one.end)):
        if groups and view.begin < end:
            groups[-1].append(view)
        else:
            groups.append([view])
        end = max(end, view.end)
    return groups


def _area(views: list[View]) -> Area:
    begin, end = views[0].begin, max(view.end for view in views)
    unit = math.gcd(*(view.tensor.element_size() for view in views), *(view.begin - begin for view in views))
    return Area(begin, end, tuple(views), unit, _elements(views, begin, end))


def _elements(views: list[View], begin: int, end: int) -> np.ndarray | None:
    """Return which bytes of the area are bytes of elements, or None if there are no others."""
    if len(views) == 1 and views[0].tensor.is_contiguous():
        return None
    elements = sparse_zeros(end - begin, np.bool_)
    for view in views:
        size = view.tensor.element_size()
        # An expanded axis repeats the same elements.
        lengths = [n if stride else 1 for n, stride in zip(view.tensor.shape, view.tensor.stride(), strict=True)]
        steps = [stride * size for stride in view.tensor.stride()]
        window = elements[view.begin - begin :]
        np.lib.stride_tricks.as_strided(window, (*lengths, size), (*steps, 1))[...] = True
    return None if elements.all() else elements
