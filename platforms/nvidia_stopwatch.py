"""Times of calls on an NVIDIA GPU, by events of the device itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from platforms.stopwatch import Stopwatch

_HIDDEN = 400_000
"""Clock cycles that the device waits before a call: what the host takes to launch it is then over, some 200 us."""

_SPIN = 100_000


class Events(Stopwatch):
    """Times calls from an event before to one behind them, in the order of the stream."""

    clock = "the device's events"

    def __init__(self, device: str) -> None:
        # Not the base's own, whose buffer lies on the host.
        self.cache = torch.cuda.get_device_properties(device).L2_cache_size
        self._other = torch.ones(2 * self.cache // 8, dtype=torch.int64, device=device)
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def flush(self) -> None:
        self._other.sum()

    def seconds(self, function: Callable[[], Any]) -> float:
        return self._behind(_HIDDEN, function)

    def spin(self) -> float:
        return self._behind(0, lambda: torch.cuda._sleep(_SPIN))

    def _behind(self, cycles: int, function: Callable[[], Any]) -> float:
        start, end = self._events
        torch.cuda._sleep(cycles)
        start.record()
        result = function()
        end.record()
        end.synchronize()
        del result
        return start.elapsed_time(end) / 1e3
