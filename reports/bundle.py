"""A bundle: the folder that one run on one machine leaves, and the unit that travels between machines.

It holds ``environment.json``, the facts about the run and the machine, ``records.jsonl``, one record a line,
``heats.jsonl``, one race a line where something was timed, ``samples-*.npz``, a few elements of each output, and
``manifest.json``, which says what all of it is. The run's first
process creates it and its parallel processes join it; nothing needs closing to be readable. When the run is over the
bundle is sealed: from then on every file has a checksum.

No code comes out of a bundle: it is JSON, and arrays that are loaded without pickle.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from reports import manifest
from reports.heat import Heat, HeatError
from reports.journal import Journal, Writer
from reports.manifest import BundleError, read_object, replace
from reports.record import Record
from reports.samples import SampleWriter

__all__ = ["Bundle", "BundleError", "Contents", "default_directory", "read", "read_heats"]

ENVIRONMENT = "environment.json"
RECORDS = "records.jsonl"
HEATS = "heats.jsonl"


class Contents(NamedTuple):
    """What a bundle holds."""

    environment: dict[str, Any]
    """The facts about the run and the machine."""
    records: Journal
    """The records, in the order written: sized, and read from the file anew each time they are iterated."""
    problems: list[str]
    """What is not as it should be and yet leaves the rest usable: a note for each torn line."""


class Bundle:
    """A bundle being written. Made by ``create`` or ``join``; a context manager that closes it."""

    def __init__(self, directory: Path, writer: Writer) -> None:
        self.directory = directory
        self._writer = writer
        self._heats: Writer | None = None
        self._samples = SampleWriter(directory)

    @classmethod
    def create(cls, directory: str | os.PathLike[str], environment: dict[str, Any]) -> Bundle:
        """Return a new bundle in ``directory``, which is made if need be and must be empty if it is there.

        Raises BundleError if the folder holds anything, if it cannot be written, or if ``environment`` is not JSON.
        """
        text = _environment_text(environment)
        path = Path(directory)
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = sorted(entry.name for entry in path.iterdir())
        except FileExistsError:
            raise BundleError(f"{path} is a file; a bundle is a folder") from None
        except OSError as error:
            raise BundleError(f"cannot make the folder {path} of a bundle: {error.strerror}") from None
        if held:
            raise BundleError(f"{path} already holds {held[0]}; a run goes to a fresh or an empty folder")
        writer = Writer(path / RECORDS, fresh=True)
        replace(path / ENVIRONMENT, text)
        manifest.begin(path)
        return cls(path, writer)

    @classmethod
    def join(cls, directory: str | os.PathLike[str]) -> Bundle:
        """Return the bundle that another process created in ``directory``, to append to it as well.

        Raises BundleError if there is none, if it is sealed, or if it cannot be written.
        """
        path = Path(directory)
        if manifest.load(path).files is not None:
            raise BundleError(f"{path} is sealed: its run is over, and nothing can be added")
        read_object(path / ENVIRONMENT)
        return cls(path, Writer(path / RECORDS, fresh=False))

    def append(self, record: Record, outputs: Sequence[np.ndarray] = ()) -> None:
        """Add one record; it survives whatever happens to this process next. Raises BundleError if it cannot.

        A few elements of its ``outputs``, in storage dtype, are kept too, and written with others later on.
        """
        self._writer.append(record)
        if outputs:
            self._samples.add(record, outputs)

    def append_heat(self, heat: Heat) -> None:
        """Add one heat; as with records, whatever happens next, it stays. Raises BundleError if it cannot."""
        if self._heats is None:
            path = self.directory / HEATS
            with _alone(self.directory / RECORDS):
                self._heats = Writer(path, fresh=not path.exists())
        self._heats.append(heat)

    def update_environment(self, key: str, value: Any) -> None:
        """Set one fact of the environment, keeping the others, also those that other processes set meanwhile.

        Readers see the environment from before or after, never a part. Raises BundleError if ``value`` is not JSON or
        the file cannot be replaced.
        """
        with _alone(self.directory / RECORDS):
            environment = read_object(self.directory / ENVIRONMENT)
            replace(self.directory / ENVIRONMENT, _environment_text({**environment, key: value}))

    def flush(self) -> None:
        """Write what was sampled so far. Raises BundleError if it cannot be."""
        self._samples.flush()

    def close(self) -> None:
        """Close the bundle; closing again does nothing. Raises BundleError if what was sampled cannot be written."""
        self.flush()
        self._writer.close()
        if self._heats:
            self._heats.close()

    def seal(self) -> None:
        """Close the bundle for good: every file gets a checksum, and no process may write any more."""
        self.close()
        manifest.seal(self.directory)

    def __enter__(self) -> Bundle:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read(directory: str | os.PathLike[str]) -> Contents:
    """Return the environment, the records and the problems of the bundle in ``directory``.

    Raises BundleError if it is no bundle, or one whose files are not those that were sealed. The records are read and
    judged as they are iterated, one at a time, so iterating raises BundleError, with file and line, at one that is
    malformed.
    """
    path = Path(directory)
    manifest.check(path)
    environment = read_object(path / ENVIRONMENT)
    records = Journal(path / RECORDS)
    return Contents(environment, records, records.problems)


def read_heats(directory: str | os.PathLike[str]) -> list[Heat]:
    """Return the heats of the bundle in ``directory``, of all its runs where it is a merged one.

    Raises BundleError as ``read`` does, and for a line that is no heat.
    """
    path = Path(directory)
    manifest.check(path)
    return [_heat(file, *line) for file in sorted(path.glob(f"*{HEATS}")) for line in Journal(file).lines()]


def _heat(file: Path, number: int, line: str) -> Heat:
    try:
        return Heat.from_json(line)
    except HeatError as error:
        raise BundleError(f"{file}:{number}: {error}") from None


def default_directory(root: str | os.PathLike[str]) -> Path:
    """Return a folder for a new bundle below ``root``: reports/out/<UTC time>-<host>, with a number where taken.

    The folder is made, empty, so that no other run takes the same. Raises BundleError if it cannot be.
    """
    out = Path(root) / "reports" / "out"
    host = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname()) or "unknown"
    name = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{host}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            directory = out / (name if number == 1 else f"{name}-{number}")
            with contextlib.suppress(FileExistsError):
                directory.mkdir()
                return directory
    except OSError as error:
        raise BundleError(f"cannot make a folder for a bundle in {out}: {error.strerror}") from None
    raise AssertionError("unreachable: the numbers do not end")


def _environment_text(environment: dict[str, Any]) -> bytes:
    if not isinstance(environment, dict) or not all(isinstance(key, str) for key in environment):
        raise BundleError(f"the environment of a bundle must be a dict whose keys are texts, not {environment!r}")
    try:
        return (json.dumps(environment, indent=2, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise BundleError(f"the environment of a bundle must be strict JSON; {error}") from None


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise BundleError(f"cannot lock {path}: {error.strerror}") from None
