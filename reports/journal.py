"""The file of records in a bundle: one line each, appended by many processes at once, and read one line at a time.

A line is written by a single write on a descriptor opened for appending, so the lines of parallel processes never mix,
and whatever a killed process had written stays. Only the last line can be torn. When a process appends to such a file
it closes the torn line with a cancel character, which no record contains, and readers pass over that line.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from reports.manifest import BundleError
from reports.record import Record, RecordError

_CANCEL = b"\x18\n"


class Line(Protocol):
    """What a file of records holds: a record, or a heat."""

    def to_json(self) -> str: ...


class Writer:
    """Appends records to the file at ``path``; usable by any number of processes at once.

    ``fresh`` says whether the file is to be made, and must not exist, or is to be there already. Raises BundleError
    if that is not so or the file cannot be written.
    """

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if fresh else 0)
        try:
            self._descriptor = os.open(path, flags, 0o666)
        except OSError as error:
            raise BundleError(f"cannot open {path} for appending: {error.strerror}") from None
        if not fresh:
            self._close_torn_line()

    def append(self, record: Line) -> None:
        """Add one record; it is in the file, whole, when this returns. Raises BundleError if it could not be."""
        line = record.to_json().encode("ascii") + b"\n"
        if self._write(line) < len(line):
            with contextlib.suppress(BundleError):  # a full disk is likely to refuse this as well
                self._write(_CANCEL)
            raise BundleError(f"cannot append to {self._path}: a record was written in part only; is the disk full?")

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            raise BundleError(f"cannot append to {self._path}: {error.strerror}") from None

    def _close_torn_line(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            self._write(_CANCEL)


class Journal:
    """The records in the file at ``path`` as it is now: sized, and read from the file each time they are iterated.

    Opening it reads the file once without judging the lines, to count the records and to find torn lines, each of
    which is a note in ``problems``. Raises BundleError if the file cannot be read; iterating raises it for a line that
    is no record.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self._records = 0
        self.marred = False
        """Whether there are lines that are no records, torn ones or what closes them."""
        self.problems: list[str] = []
        for number, line in self._read():
            self._lines = number
            self._records += _is_whole(line)
            self.marred |= not _is_whole(line)
            if _is_torn(line):
                self.problems.append(f"{path}:{number}: a torn line was dropped; its writer was stopped in the middle")

    def __len__(self) -> int:
        return self._records

    def __iter__(self) -> Iterator[Record]:
        for number, line in self._read():
            if number > self._lines:
                break  # written since; a live run must not make two readings of one journal differ
            if _is_whole(line):
                yield self._parse(number, line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the whole lines as they are, each with its number."""
        for number, line in self._read():
            if number <= self._lines and _is_whole(line):
                yield number, line.decode("utf-8", "replace")

    def copy_whole_lines(self, path: Path) -> None:
        """Write the lines of records alone to ``path``, for readers that know nothing of torn ones."""
        with path.open("wb") as file:
            file.writelines(line for _, line in self._read() if _is_whole(line))

    def _read(self) -> Iterator[tuple[int, bytes]]:
        try:
            with self._path.open("rb") as file:
                yield from enumerate(file, start=1)
        except OSError as error:
            raise BundleError(f"cannot read {self._path}: {error.strerror}") from None

    def _parse(self, number: int, line: bytes) -> Record:
        try:
            return Record.from_json(line.decode("utf-8").rstrip("\n"))
        except (UnicodeDecodeError, RecordError) as error:
            raise BundleError(f"{self._path}:{number}: {error}") from None


def _is_whole(line: bytes) -> bool:
    return line.endswith(b"\n") and not line.endswith(_CANCEL)


def _is_torn(line: bytes) -> bool:
    # A lone cancel follows a line that was whole after all: its writer was still busy when it looked torn.
    return not _is_whole(line) and line != _CANCEL
