"""Taking turns on a device: whoever times has it alone, and whoever merely uses it may do so beside others.

The turns are taken by locks on files, so that processes that know nothing of each other take them: the workers of
pytest-xdist, and other sessions on this machine. Whoever waits to be alone keeps newcomers out, and is not starved.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(device: str) -> Iterator[None]:
    """A context in which no other process is in one for the same ``device``, alone or beside others."""
    with _turn(device, fcntl.LOCK_EX):
        yield


@contextmanager
def beside_others(device: str) -> Iterator[None]:
    """A context in which no other process has ``device`` alone."""
    with _turn(device, fcntl.LOCK_SH):
        yield


@contextmanager
def _turn(device: str, kind: int) -> Iterator[None]:
    # One who waits for the device holds the gate meanwhile.
    with _locked(device, "gate", fcntl.LOCK_EX) as gate, _locked(device, "device", kind):
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@contextmanager
def _locked(device: str, what: str, kind: int) -> Iterator[int]:
    name = re.sub("[^A-Za-z0-9]+", "-", device)
    path = Path(tempfile.gettempdir()) / f"portolan-{os.getuid()}-{name}-{what}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        os.close(descriptor)
