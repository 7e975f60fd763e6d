"""Guarded memory for inputs: one block holds all inputs of a call, with bands around them that nobody may write.

Each input lies in the block as its layout says. Whatever is not an element (the bands before and after, the gaps
between strided rows) is filled with the canary of the input's dtype. After the call the block is compared with a copy
of itself, in one comparison on the device; only when they differ is it fetched and the difference told apart: an
element of an input, or memory that belongs to nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from golden import layout
from golden.layout import Placement
from platforms.far import FAR, FarInput
from platforms.outcome import Damage
from platforms.patterns import CANARY, pattern, unsigned_storage

BAND = 16384
"""Bytes of a guard band: 4096 float32 elements, the widest block that kernels commonly give one program.

A missing mask makes a kernel overshoot by less than one block, so that what it does lands in the band, where it is
seen, and not in foreign memory, where it may or may not crash. Wider bands cost time in every call; these cost
microseconds.
"""

ALIGNMENT = 256
"""Bytes to which the storage of each tensor is aligned, as device allocators do; a layout's offset comes on top."""


@dataclass(frozen=True)
class _Region:
    """Where in the block, in bytes, the storage of one input lies."""

    name: str
    dtype: torch.dtype
    placement: Placement
    begin: int
    end: int


class Arena:
    """The inputs of one call in guarded memory on ``device``.

    Args:
        inputs: logical storage arrays by name (:mod:`golden.dtypes`).
        placements: where each lies in its storage.
        dtypes: the element type of each, since several may be stored alike.
        device: a torch device.
        canary: what lies around the elements, one of the bytes of :mod:`platforms.patterns`.

    ``tensors`` holds the torch tensors by name, all views of the one block.
    """

    def __init__(
        self,
        inputs: Mapping[str, np.ndarray],
        placements: Mapping[str, Placement],
        dtypes: Mapping[str, str],
        device: str,
        canary: int = CANARY,
    ) -> None:
        kinds = {name: getattr(torch, dtype) for name, dtype in dtypes.items()}
        far = [name for name, placement in placements.items() if placement.extent >= FAR]
        self._far = [FarInput(name, inputs[name], placements[name], kinds[name], device, canary) for name in far]
        self._regions, size = _lay_out({name: kinds[name] for name in inputs if name not in far}, placements)
        host = _aligned(size)
        _fill(host, self._regions, canary)
        for region in self._regions:
            values = inputs[region.name]
            if values.size:
                unsigned = unsigned_storage(region.dtype)
                storage = host[region.begin : region.end].view(unsigned)
                once = layout.once(region.placement.strides)
                layout.view(storage, region.placement)[once] = values[once].view(unsigned)
        on_host = torch.from_numpy(host)
        self._block = on_host if device == "cpu" else on_host.to(device)
        self._words = self._block.view(torch.int32)  # there are devices that have no int64
        self._before = self._words.clone()
        tensors = {region.name: self._tensor(region) for region in self._regions}
        tensors |= {one.name: one.tensor for one in self._far}
        self.tensors = {name: tensors[name] for name in inputs}

    @property
    def far(self) -> bool:
        """Whether an input's slices lie far apart."""
        return bool(self._far)

    def owner_of(self, tensor: torch.Tensor) -> str | None:
        """Return the name of the input that ``tensor`` shares memory with, or None."""
        for one in self._far:
            if tensor.numel() and tensor.untyped_storage().data_ptr() == one.base:
                return one.name
        base = self._block.untyped_storage().data_ptr()
        if not tensor.numel() or tensor.untyped_storage().data_ptr() != base:
            return None
        place = tensor.data_ptr() - base
        return min(self._regions, key=lambda region: _distance(region, place)).name

    def damage(self) -> tuple[Damage, ...]:
        """Return what has been done to the block since it was made; waits for the device."""
        of_far = tuple(damage for one in self._far for damage in one.damage())
        if torch.equal(self._words, self._before):
            return of_far
        changed = np.flatnonzero(self._block.cpu().numpy() != self._before.view(torch.uint8).cpu().numpy())
        starts = [0, *((one.end + two.begin) // 2 for one, two in zip(self._regions, self._regions[1:], strict=False))]
        stops = [*starts[1:], self._block.numel()]
        return of_far + tuple(
            damage
            for region, start, stop in zip(self._regions, starts, stops, strict=True)
            for damage in _tell(region, changed[(changed >= start) & (changed < stop)])
        )

    def _tensor(self, region: _Region) -> torch.Tensor:
        place = region.placement
        offset = region.begin // region.dtype.itemsize + place.offset
        return torch.as_strided(self._block.view(region.dtype), place.shape, place.strides, offset)


def _lay_out(kinds: Mapping[str, torch.dtype], placements: Mapping[str, Placement]) -> tuple[list[_Region], int]:
    regions, cursor = [], 0
    for name, element in kinds.items():
        begin = _round_up(cursor + BAND, ALIGNMENT)
        cursor = begin + placements[name].extent * element.itemsize
        regions.append(_Region(name, element, placements[name], begin, cursor))
    return regions, _round_up(cursor + BAND, ALIGNMENT)


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _aligned(size: int) -> np.ndarray:
    """Return ``size`` bytes whose address is a multiple of ALIGNMENT."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    shift = -memory.ctypes.data % ALIGNMENT
    return memory[shift : shift + size]


def _fill(host: np.ndarray, regions: list[_Region], byte: int) -> None:
    """Fill everything that is not an element with canaries; the band between two inputs has those of the second."""
    start = 0
    for region in regions:
        canaries = host.view(unsigned_storage(region.dtype))
        width, canary = region.dtype.itemsize, pattern(region.dtype, byte)
        stop = _round_up(region.end, 8) + BAND
        if region.placement.extent == math.prod(region.placement.shape):
            canaries[start // width : region.begin // width] = canary
            canaries[region.end // width : stop // width] = canary
        else:
            canaries[start // width : stop // width] = canary
        start = _round_up(region.end, 8)
    if not regions:
        host[:] = byte
    elif stop < host.size:
        canaries[stop // width :] = canary


def _distance(region: _Region, place: int) -> int:
    return max(region.begin - place, place - region.end + 1, 0)


def counted(number: int) -> str:
    """Return ``number`` of elements in words."""
    return f"{number} element{'' if number == 1 else 's'}"


def _tell(region: _Region, changed: np.ndarray) -> Iterator[Damage]:
    """Say what it means that the bytes at ``changed``, all nearest to ``region``, are not what they were."""
    name, extent = region.name, region.placement.extent
    places = np.unique((changed - region.begin) // region.dtype.itemsize)
    before, within, after = places[places < 0], places[(places >= 0) & (places < extent)], places[places >= extent]
    owners = _owners(region.placement)
    elements, gaps = owners[within][owners[within] >= 0], within[owners[within] < 0]
    if elements.size:
        where = _element(region, int(elements.min()))
        yield Damage("input changed", f"{counted(elements.size)} of input {name}, first {where}")
    if before.size:
        yield Damage("out of bounds", f"{counted(before.size)} before input {name}, nearest {-before[-1]} before it")
    if gaps.size:
        owned = owners[: gaps[0]][owners[: gaps[0]] >= 0]
        where = f"after {_element(region, int(owned[-1]))}" if owned.size else "before its first element"
        yield Damage("out of bounds", f"{counted(gaps.size)} in the gaps of input {name}, first {where}")
    if after.size:
        where = f"first {after[0] - extent} past its end"
        yield Damage("out of bounds", f"{counted(after.size)} after input {name}, {where}")


def _owners(placement: Placement) -> np.ndarray:
    """Return, for each place in the storage, the number of the element there; -1 in a gap."""
    owners = np.full(placement.extent, -1)
    size = math.prod(placement.shape)
    if size:
        layout.view(owners, placement)[...] = np.arange(size).reshape(placement.shape)
    return owners


def _element(region: _Region, number: int) -> str:
    index = np.unravel_index(number, region.placement.shape)
    return f"{region.name}[{', '.join(str(int(one)) for one in index)}]"
