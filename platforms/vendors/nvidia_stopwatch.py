"""Times of calls on an NVIDIA GPU, which can be told to wait for a number of clock cycles."""

from __future__ import annotations

import torch

from platforms.device_stopwatch import Events

_HIDDEN = 400_000
"""Clock cycles that the device waits before a call: what a quiet host takes to launch it is then over, some 200 us."""

_SPIN = 100_000


class Cycles(Events):
    """Times calls by events; what it waits for, and compares its clock by, are clock cycles."""

    def __init__(self, device: str) -> None:
        super().__init__(torch.cuda, device, torch.cuda.get_device_properties(device).L2_cache_size)

    def busy(self, times: int) -> None:
        torch.cuda._sleep(_HIDDEN * times)

    def spin(self) -> float:
        return self._between(lambda: torch.cuda._sleep(_SPIN))[0]
