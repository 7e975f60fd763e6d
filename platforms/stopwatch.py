"""How a platform times a call: its clock, what clears its caches, and work that tells clock and load."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_UNKNOWN_CACHE = 32 * 2**20  # bytes, where the system does not say
_SPINS = 20_000


class Stopwatch:
    """Times calls on the host: from before a call until the device has done it.

    Attributes:
        clock: what is read, for the report.
        cache: bytes of the largest cache between the device's units and its memory.
    """

    clock = "the host's clock"

    def __init__(self, synchronize: Callable[[], None], cache: int) -> None:
        self.cache = cache
        self._synchronize = synchronize
        self._other = np.ones(2 * cache // 8, np.int64)

    def flush(self) -> None:
        """Have the caches filled with what no kernel uses; it is read, so that nothing of it is written back later."""
        self._other.sum()

    def seconds(self, function: Callable[[], Any], *, cleared: bool = False) -> float:
        """Return how long ``function`` takes on the device, with its caches ``cleared`` before if that is asked for."""
        if cleared:
            self.flush()
        self._synchronize()
        started = time.perf_counter()
        result = function()  # kept until the clock is read, so that freeing it takes no part
        self._synchronize()
        elapsed = time.perf_counter() - started
        del result
        return elapsed

    def spin(self) -> float:
        """Return how long a piece of work takes that is always the same: longer under load, or at a lower clock."""
        started = time.perf_counter()
        for _ in range(_SPINS):
            pass
        return time.perf_counter() - started


def host_cache(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """Return the bytes of the largest cache that a core of the host has, a guess where the system does not say.

    Linux tells those of a core in ``folder``. Of some processors glibc gives the sum over all cores instead, which
    takes ten times as long to fill and clears no more.
    """
    sizes = [0]
    for file in sorted(folder.glob("index*/size")):
        with contextlib.suppress(OSError, ValueError):
            sizes.append(int(file.read_text().strip().removesuffix("K")) * 2**10)
    if max(sizes):
        return max(sizes)
    for level in (2, 3, 4):
        with contextlib.suppress(OSError, ValueError):
            sizes.append(os.sysconf(f"SC_LEVEL{level}_CACHE_SIZE"))
    return max(sizes) or _UNKNOWN_CACHE
