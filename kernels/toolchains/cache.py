"""What is made once on a machine and kept: the folder, and how one process at a time makes a thing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = "PORTOLAN_CACHE"
"""The environment variable that names the folder; without it, one in the user's own cache folder."""


def folder() -> Path:
    """Return the folder, which is made if it is not there."""
    named = os.environ.get(CACHE)
    path = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "portolan"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Return a context that one process at a time can be in, of all that name the same ``lock``, a file."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
