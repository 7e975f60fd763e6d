"""Guarded memory for an input whose slices lie far apart: only what is near them is ever touched.

A few elements may then reach past 2**31 of them. On a CPU the memory between is never mapped; on a device it must be
there. Around each slice lie bands that nobody may write.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from golden.layout import Placement
from platforms.outcome import Damage
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

    Raises NoMemory where there is not enough of it.
    """

    def __init__(self, name: str, values: np.ndarray, placement: Placement, dtype: torch.dtype, device: str) -> None:
        self.name = name
        kind = integer_type(dtype)
        self._storage = _reserved(placement.extent + 2 * _BAND, kind, device)
        origin = _BAND + placement.offset
        self.tensor = torch.as_strided(self._storage.view(dtype), placement.shape, placement.strides, origin)
        outer = int(
            np.argmax([stride * (size > 1) for size, stride in zip(placement.shape, placement.strides, strict=True)])
        )
        span = 1 + sum(
            (size - 1) * stride
            for axis, (size, stride) in enumerate(zip(placement.shape, placement.strides, strict=True))
            if axis != outer
        )
        starts = [origin + index * placement.strides[outer] for index in range(placement.shape[outer])]
        self._pieces = [self._storage[start - _BAND : start + span + _BAND] for start in starts]
        for piece in self._pieces:
            piece.fill_(signed(dtype, CANARY))
        whole = torch.as_strided(self._storage, placement.shape, placement.strides, origin)
        whole.copy_(torch.from_numpy(np.array(values.view(f"i{values.itemsize}"))).to(device))
        self._before = [piece.clone() for piece in self._pieces]
        self._span = span

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
                yield Damage("input changed", f"{int(inside.sum())} places in {where}")
            if not inside.all():
                yield Damage("out of bounds", f"{int((~inside).sum())} places around {where}")


def _reserved(elements: int, kind: torch.dtype, device: str) -> torch.Tensor:
    try:
        return torch.empty(elements, dtype=kind, device=device)
    except (RuntimeError, MemoryError):
        size = elements * kind.itemsize / 2**30
        raise NoMemory(f"no {size:.1f} GiB of memory are to be had on {device}") from None
