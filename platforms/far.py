"""Guarded memory for an input whose slices lie far apart: only what is near them is ever touched.

A few elements may then reach past 2**31 of them. On a CPU the memory between is never mapped; on a device it must be
there. Around each slice lie bands that nobody may write.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from golden import layout
from golden.layout import Placement
from platforms.outcome import Damage
from platforms.pages import sparse_zeros
from platforms.patterns import CANARY, integer_type, signed

FAR = 2**28
"""Elements of storage from which on an input is held this way."""

_BAND = 4096  # elements of a guard band


class NoMemory(Exception):
    """The machine has not the memory, or the address space, that a case needs."""


class FarInput:
    """One input in memory of its own.

    Args:
        name: what it is called in a report of damage.
        values: its logical storage array.
        placement: where its elements lie.
        dtype: its torch dtype.
        device: a torch device.
        canary: what lies around the elements, one of the bytes of :mod:`platforms.patterns`.

    Raises NoMemory where there is not enough of it.
    """

    def __init__(
        self,
        name: str,
        values: np.ndarray,
        placement: Placement,
        dtype: torch.dtype,
        device: str,
        canary: int = CANARY,
    ) -> None:
        self.name = name
        shape, strides = placement.shape, placement.strides
        once = layout.once(strides)
        sizes = values[once].shape
        outer = max(range(len(sizes)), key=lambda axis: strides[axis] * (sizes[axis] > 1))
        self._span = 1 + sum((sizes[axis] - 1) * strides[axis] for axis in range(len(sizes)) if axis != outer)
        self._storage = _reserved(placement.extent + 2 * _BAND, integer_type(dtype), device)
        origin = _BAND + placement.offset
        self.tensor = torch.as_strided(self._storage.view(dtype), shape, strides, origin)
        starts = [origin + index * strides[outer] for index in range(sizes[outer])]
        self._pieces = [self._storage[start - _BAND : start + self._span + _BAND] for start in starts]
        for piece in self._pieces:
            piece.fill_(signed(dtype, canary))
        elements = torch.as_strided(self._storage, sizes, strides, origin)
        elements.copy_(torch.from_numpy(values[once].copy().view(f"i{values.itemsize}")))
        self._before = [piece.clone() for piece in self._pieces]

    @property
    def base(self) -> int:
        """The address of its storage."""
        return self._storage.untyped_storage().data_ptr()

    def damage(self) -> Iterator[Damage]:
        """Yield what has been done to the slices and their bands; waits for the device."""
        for number, (piece, before) in enumerate(zip(self._pieces, self._before, strict=True)):
            if torch.equal(piece, before):
                continue
            changed = np.flatnonzero((piece != before).cpu().numpy()) - _BAND
            inside = (changed >= 0) & (changed < self._span)
            where = f"slice {number} of input {self.name}"
            if inside.any():
                yield Damage("input changed", f"{_places(inside)} in {where}")
            if not inside.all():
                yield Damage("out of bounds", f"{_places(~inside)} around {where}")


def _places(chosen: np.ndarray) -> str:
    return "1 place" if chosen.sum() == 1 else f"{chosen.sum()} places"


def _reserved(elements: int, kind: torch.dtype, device: str) -> torch.Tensor:
    size = elements * kind.itemsize
    try:
        if device == "cpu":
            return torch.from_numpy(sparse_zeros(elements, f"i{kind.itemsize}"))
        return torch.empty(elements, dtype=kind, device=device)
    except (OSError, RuntimeError, MemoryError) as error:
        reason = str(error).partition("\n")[0]
        raise NoMemory(f"{size / 2**30:.1f} GiB of memory are not to be had on {device}: {reason}") from None
