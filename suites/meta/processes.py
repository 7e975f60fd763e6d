"""Which processes there are, from /proc: what tests of processes look at."""

from __future__ import annotations

from pathlib import Path

import pytest

WITH_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to look for processes")


def children() -> dict[int, set[int]]:
    """Return the processes that each process has started, from /proc."""
    started: dict[int, set[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        started.setdefault(int(fields[1]), set()).add(int(status.parent.name))
    return started


def descendants(root: int) -> set[int]:
    """Return the processes that ``root`` has started, and those that they have."""
    started, found, fresh = children(), set[int](), {root}
    while fresh:
        fresh = set().union(*(started.get(process, set()) for process in fresh)) - found
        found |= fresh
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
