"""Readings of earlier audits: one file for each version of a compiler, a line each."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from kernels.toolchains import cache
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading
from platforms.targets.toolchain import Build


class Known:
    """Readings by build and architecture, kept in files of ``folder``; what was cut off is not kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache.folder()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._readings: dict[str, dict[str, Reading]] = {}

    def file(self, compiler: str) -> Path:
        """Return where readings of ``compiler`` are."""
        return file_of(self.folder, "targets", compiler, how())

    def get(self, compiler: str, build: Build, one: Architecture) -> Reading | None:
        """Return the reading of ``build`` for ``one``, or None."""
        return self._of(compiler).get(f"{build.digest}@{one.name}")

    def add(self, compiler: str, build: Build, reading: Reading) -> None:
        """Keep a reading."""
        if reading.unfinished:
            return
        key = f"{build.digest}@{reading.target}"
        self._of(compiler)[key] = reading
        with self.file(compiler).open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, reading.to_value()]) + "\n")

    def _of(self, compiler: str) -> dict[str, Reading]:
        if compiler not in self._readings:
            self._readings[compiler] = dict(_lines(self.file(compiler)))
        return self._readings[compiler]


def file_of(folder: Path, what: str, compiler: str, state: str) -> Path:
    """Return the file in ``folder`` of what is known with a version of a compiler, in a ``state`` of sources."""
    return folder / f"{what}-{re.sub(r'[^a-z0-9.]+', '-', compiler.lower())}-{state}.jsonl"


def _lines(file: Path) -> Iterator[tuple[str, Reading]]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with contextlib.suppress(ValueError):  # the last line of an audit that was stopped
            key, value = json.loads(line)
            yield key, Reading.from_value(value)


@functools.cache
def how() -> str:
    """Return a digest of how code is read: what was read otherwise is read again."""
    read = sorted([*Path(__file__).parent.glob("*_reading.py"), Path(__file__).parent / "code.py"])
    said = [file.read_text(encoding="utf-8") for file in read], [one.name for one in fields(Reading)]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:8]
