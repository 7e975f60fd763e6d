"""Times of calls on a card, by events of the device itself, whichever namespace of torch it is behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from platforms.stopwatch import Stopwatch

_UNKNOWN_CACHE = 128 * 2**20  # bytes, where the device does not say
_SIDE = 512
_LONGEST = 16
"""By which factor the device is kept waiting longer, at most, for a host that is slow to launch a call."""


class Events(Stopwatch):
    """Times calls from an event before to one behind them, in the order of the stream.

    The device is kept waiting before the first, so that the host is ahead and no launch is timed. Where it was not, as
    what is behind a compiler's guards is launched in more time on a loaded host, the call is taken again behind a
    longer wait. What waits for the device itself is never ahead, and its time is that of the host too.

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
        self._waits = 1

    def flush(self) -> None:
        self._other.sum()

    def seconds(self, function: Callable[[], Any], *, cleared: bool = False) -> float:
        while True:
            if cleared:
                self.flush()
            self.busy(self._waits)
            seconds, ahead = self._between(function)
            if ahead or self._waits >= _LONGEST:
                return seconds
            self._waits *= 4

    def spin(self) -> float:
        return self._between(lambda: self._square @ self._square)[0]

    def busy(self, times: int) -> None:
        """Give the device work for as long as the host takes to launch a call, or so many ``times`` as long."""
        for _ in range(8 * times):
            self._square @ self._square

    def _between(self, function: Callable[[], Any]) -> tuple[float, bool]:
        """Return the seconds of ``function``, and whether it was launched before the device came to it."""
        start, end = self._events
        start.record()
        result = function()
        ahead = not start.query()
        end.record()
        end.synchronize()
        del result
        return float(start.elapsed_time(end)) / 1e3, ahead
