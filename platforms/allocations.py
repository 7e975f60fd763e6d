"""Guarded memory for what a kernel allocates: while it runs, ``torch.empty`` and its kin return guarded tensors.

Each lies between two bands that nobody may write, and what the kernel has yet to write is poison. Allocations inside
compiled code and inside torch's own operators are not seen; see :mod:`platforms.paradigm`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from platforms.memory import ALIGNMENT, BAND, counted
from platforms.outcome import Damage
from platforms.patterns import CANARY, integer_type, signed

_EMPTY = {
    torch.empty,
    torch.empty_like,
    torch.empty_strided,
    torch.Tensor.new_empty,
    torch.Tensor.new_empty_strided,
}
_FILLED = {
    torch.zeros,
    torch.zeros_like,
    torch.ones,
    torch.ones_like,
    torch.full,
    torch.full_like,
    torch.Tensor.new_zeros,
    torch.Tensor.new_ones,
    torch.Tensor.new_full,
    torch.clone,
    torch.Tensor.clone,
}
_GUARDED_DTYPES = {
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
}


@dataclass(frozen=True)
class _Allocation:
    """``memory`` is an integer view of everything; the tensor takes its elements from ``begin`` to ``end``."""

    memory: torch.Tensor
    begin: int
    end: int
    canary: int
    what: str


class GuardedAllocations(TorchFunctionMode):
    """A context in which tensors allocated on ``device`` are guarded, and empty ones filled with poison.

    ``poison``, and ``canary`` around it, are bytes of :mod:`platforms.patterns`. Everything allocated lives as long as
    this object.
    """

    def __init__(self, device: str, poison: int, canary: int = CANARY) -> None:
        super().__init__()
        self._canary = canary
        self._device_type = torch.device(device).type
        self._poison = poison
        self._allocations: list[_Allocation] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        empty = func in _EMPTY
        if not (empty or func in _FILLED) or not self._can_guard(result, kwargs):
            return result
        guarded = self._guarded(result)
        return guarded if empty else guarded.copy_(result)

    def damage(self) -> tuple[Damage, ...]:
        """Return what was written into the bands; waits for the device."""
        if not self._allocations or not bool(torch.stack([_touched(one) for one in self._allocations]).any()):
            return ()
        return tuple(damage for one in self._allocations for damage in _tell(one))

    def _can_guard(self, result: Any, kwargs: Mapping[str, Any]) -> bool:
        return (
            isinstance(result, torch.Tensor)
            and result.device.type == self._device_type
            and result.layout == torch.strided
            and result.dtype in _GUARDED_DTYPES
            and result.numel() > 0
            and kwargs.get("out") is None
            and not kwargs.get("pin_memory")
        )

    def _guarded(self, like: torch.Tensor) -> torch.Tensor:
        """Return a poisoned tensor with the geometry of ``like``, between bands."""
        dtype, width = like.dtype, like.dtype.itemsize
        extent = 1 + sum((size - 1) * stride for size, stride in zip(like.shape, like.stride(), strict=True))
        elements = extent + (2 * BAND + ALIGNMENT) // width
        room = torch.empty(elements, dtype=integer_type(dtype), device=like.device)
        begin = (BAND + -(room.data_ptr() + BAND) % ALIGNMENT) // width
        canary = signed(dtype, self._canary)
        # Not the whole first: of gigabytes, each pass counts.
        room[:begin].fill_(canary)
        room[begin : begin + extent].fill_(signed(dtype, self._poison))
        room[begin + extent :].fill_(canary)
        what = f"an allocated {str(dtype).removeprefix('torch.')} tensor of shape {tuple(like.shape)}"
        self._allocations.append(_Allocation(room, begin, begin + extent, canary, what))
        return torch.as_strided(room.view(dtype), like.shape, like.stride(), begin).requires_grad_(like.requires_grad)


def _bands(one: _Allocation) -> torch.Tensor:
    return torch.cat((one.memory[: one.begin], one.memory[one.end :]))


def _touched(one: _Allocation) -> torch.Tensor:
    return (_bands(one) != one.canary).any()


def _tell(one: _Allocation) -> list[Damage]:
    changed = np.flatnonzero(_bands(one).cpu().numpy() != one.canary)
    before, after = changed[changed < one.begin], changed[changed >= one.begin] - one.begin
    damage = []
    if before.size:
        where = f"nearest {one.begin - int(before[-1])} before it"
        damage.append(Damage("out of bounds", f"{counted(before.size)} before {one.what}, {where}"))
    if after.size:
        where = f"first {int(after[0])} past its end"
        damage.append(Damage("out of bounds", f"{counted(after.size)} after {one.what}, {where}"))
    return damage
