"""A bundle: the folder that one run on one machine leaves, and the unit that travels between machines.

It holds ``environment.json``, the facts about the run and the machine, and ``records.jsonl``, one record a line. The
run's first process creates it and its parallel processes join it; nothing needs closing to be readable.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from reports.journal import BundleError, Journal, Writer
from reports.record import Record

__all__ = ["Bundle", "BundleError", "Contents", "default_directory", "read"]

ENVIRONMENT = "environment.json"
RECORDS = "records.jsonl"


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
        _replace(path / ENVIRONMENT, text)
        return cls(path, writer)

    @classmethod
    def join(cls, directory: str | os.PathLike[str]) -> Bundle:
        """Return the bundle that another process created in ``directory``, to append to it as well.

        Raises BundleError if there is none or it cannot be written.
        """
        path = Path(directory)
        _read_environment(path)
        return cls(path, Writer(path / RECORDS, fresh=False))

    def append(self, record: Record) -> None:
        """Add one record; it survives whatever happens to this process next. Raises BundleError if it cannot."""
        self._writer.append(record)

    def update_environment(self, key: str, value: Any) -> None:
        """Set one fact of the environment, keeping the others, also those that other processes set meanwhile.

        Readers see the environment from before or after, never a part. Raises BundleError if ``value`` is not JSON or
        the file cannot be replaced.
        """
        with _alone(self.directory / RECORDS):
            environment = _read_environment(self.directory)
            _replace(self.directory / ENVIRONMENT, _environment_text({**environment, key: value}))

    def close(self) -> None:
        """Close the bundle; closing again does nothing."""
        self._writer.close()

    def __enter__(self) -> Bundle:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read(directory: str | os.PathLike[str]) -> Contents:
    """Return the environment, the records and the problems of the bundle in ``directory``.

    Raises BundleError if it is no bundle. The records are read and judged as they are iterated, one at a time, so
    iterating raises BundleError, with file and line, at one that is malformed.
    """
    path = Path(directory)
    environment = _read_environment(path)
    records = Journal(path / RECORDS)
    return Contents(environment, records, records.problems)


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


def _environment_text(environment: dict[str, Any]) -> str:
    if not isinstance(environment, dict) or not all(isinstance(key, str) for key in environment):
        raise BundleError(f"the environment of a bundle must be a dict whose keys are texts, not {environment!r}")
    try:
        return json.dumps(environment, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise BundleError(f"the environment of a bundle must be strict JSON; {error}") from None


def _read_environment(directory: Path) -> dict[str, Any]:
    if not directory.is_dir():
        raise BundleError(f"{directory} is {'a file' if directory.exists() else 'not there'}; a bundle is a folder")
    path = directory / ENVIRONMENT
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BundleError(f"{directory} is not a bundle: it has no {ENVIRONMENT}") from None
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is not JSON: {error}") from None
    if not isinstance(environment, dict):
        raise BundleError(f"{path} must hold a JSON object, not {environment!r}")
    return environment


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BundleError(f"cannot write {path}: {error.strerror}") from None


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise BundleError(f"cannot lock {path}: {error.strerror}") from None
