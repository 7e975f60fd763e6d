"""Inputs that lie alone, each in memory of its own that ends where they end: for a sanitizer, which sees that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch

from golden import layout
from golden.layout import Placement
from platforms.far import FAR, NoMemory
from platforms.outcome import Damage
from platforms.patterns import integer_type


class BareInputs:
    """The inputs of one call, in the place of :class:`platforms.memory.Arena`; its arguments, but for the canary.

    Raises NoMemory for an input whose slices lie far apart.
    """

    far = False

    def __init__(
        self,
        inputs: Mapping[str, np.ndarray],
        placements: Mapping[str, Placement],
        dtypes: Mapping[str, str],
        device: str,
    ) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self._storages: dict[str, torch.Tensor] = {}
        for name, values in inputs.items():
            element, place = getattr(torch, dtypes[name]), placements[name]
            if place.extent >= FAR:
                raise NoMemory(f"input {name} lies far apart, and a sanitizer is given no memory with holes")
            storage = torch.zeros(place.extent, dtype=integer_type(element), device=device)
            some = values[layout.once(place.strides)]
            elements = torch.as_strided(storage, some.shape, place.strides, place.offset)
            elements.copy_(torch.from_numpy(np.array(some).view(f"i{some.itemsize}")))
            self._storages[name] = storage
            self.tensors[name] = torch.as_strided(storage.view(element), place.shape, place.strides, place.offset)
        self._before = {name: storage.clone() for name, storage in self._storages.items()}

    def owner_of(self, tensor: torch.Tensor) -> str | None:
        """Return the name of the input that ``tensor`` shares memory with, or None."""
        base = tensor.untyped_storage().data_ptr()
        shared = (name for name, one in self._storages.items() if one.untyped_storage().data_ptr() == base)
        return next(shared, None) if tensor.numel() else None

    def damage(self) -> Iterator[Damage]:
        """Yield what has been done to the inputs; waits for the device."""
        for name, storage in self._storages.items():
            if changed := int((storage != self._before[name]).sum()):
                yield Damage("input changed", f"{changed} of {storage.numel()} places in the memory of input {name}")
