"""What runners print, and the last lines of it, which say how one ended."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_TAIL_LINES = 20
_TAIL_BYTES = 65536
_LONGEST_LINE = 300
_FRAMES = 10
_HARNESS = f"platforms{os.sep}execution.py"  # below it in a traceback is nothing of the kernel's


class Log:
    """What runners print: a file without a name that takes this process's standard output and error, and theirs."""

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(delete=False) as file:
            name = file.name
        # Appending is what makes truncation work: each process has its own idea of where the file ends.
        self._descriptor = os.open(name, os.O_RDWR | os.O_APPEND)
        Path(name).unlink()
        os.dup2(self._descriptor, 1)
        os.dup2(self._descriptor, 2)

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def clear(self) -> None:
        if self.size:
            os.ftruncate(self._descriptor, 0)

    def tail(self) -> str:
        """Return the last lines of it."""
        return tail_of(self._descriptor)


def tail_of(descriptor: int) -> str:
    """Return the last lines of a file, each shortened to what a person reads; raises OSError if it cannot be read."""
    data = os.pread(descriptor, _TAIL_BYTES, max(0, os.fstat(descriptor).st_size - _TAIL_BYTES))
    lines = _shortened(data.decode(errors="replace").replace("\0", "").splitlines())
    return "\n".join(line[:_LONGEST_LINE] for line in lines[-_TAIL_LINES:])


def taken_from(descriptor: int) -> str:
    """Return all of a file of output, which is empty then; "" if it is no file."""
    try:
        data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        os.ftruncate(descriptor, 0)
    except OSError:
        return ""
    return data.decode(errors="replace").replace("\0", "")


def _shortened(lines: list[str]) -> list[str]:
    """Return ``lines`` with faulthandler's traceback, innermost frame first, cut where the kernel was called."""
    starts = [number for number, line in enumerate(lines) if line.endswith("(most recent call first):")]
    if not starts:
        return lines
    frames = lines[starts[-1] + 1 :]
    own = [number for number, line in enumerate(frames) if _HARNESS in line]
    kept = frames[: own[0]] if own else frames
    return lines[: starts[-1] + 1] + kept[:_FRAMES]
