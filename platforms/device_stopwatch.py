"""Times of calls on a card, by events of the device itself, whichever namespace of torch it is behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from platforms.stopwatch import Stopwatch

_UNKNOWN_CACHE = 128 * 2**20  # bytes, where the device does not say
_SIDE = 512


class Events(Stopwatch):
    """Times calls from an event before to one behind them, in the order of the stream.

    Args:
        namespace: what has the events, such as ``torch.cuda``.
        device: a torch device of it.
        cache: bytes of the device's last cache; 0 where that is not known.
    """

    clock = "the device's events"

    def __init__(self, namespace: Any, device: str, cache: int) -> None:
        # Not the base's own, whose buffer lies on the host.
        self.cache = cache or _UNKNOWN_CACHE
        self._other = torch.ones(2 * self.cache // 4, dtype=torch.int32, device=device)
        self._square = torch.ones(_SIDE, _SIDE, device=device)
        self._events = [namespace.Event(enable_timing=True) for _ in range(2)]

    def flush(self) -> None:
        self._other.sum()

    def seconds(self, function: Callable[[], Any]) -> float:
        self.busy()
        return self._between(function)

    def spin(self) -> float:
        return self._between(lambda: self._square @ self._square)

    def busy(self) -> None:
        """Give the device work for as long as the host takes to launch a call, so that no launch is timed."""
        for _ in range(8):
            self._square @ self._square

    def _between(self, function: Callable[[], Any]) -> float:
        start, end = self._events
        start.record()
        result = function()
        end.record()
        end.synchronize()
        del result
        return float(start.elapsed_time(end)) / 1e3
