"""What the host has of memory, and a limit to what this process may take of it.

The system promises any amount, and when it cannot keep its word it kills some process, perhaps another. With a limit,
taking too much is an error where it happens.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CONTAINER = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Return how many bytes the host can still give, those that its caches hold included; None where nobody knows."""
    known = []
    with contextlib.suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        known += [int(found[1]) * 1024] if found else []
    with contextlib.suppress(OSError, ValueError):  # a container without a limit says "max"
        limit, taken = ((_CONTAINER / f"memory.{name}").read_text() for name in ("max", "current"))
        known.append(int(limit) - int(taken))
    if not known:
        with contextlib.suppress(OSError, ValueError):
            known.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(known, default=None)


@contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Let this process take no more than ``more`` bytes of addresses beside what it has, where that is known."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(OSError):
        limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + more
        limits = [one for one in (limit, soft) if one != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def out_of_memory(error: BaseException) -> bool:
    """Whether ``error`` says that there was not enough memory, on the host or on a device."""
    return (
        isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or "allocate memory" in str(error)
    )
