"""Readings of earlier audits: one file for each version of the compiler, a line each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path

import triton

from kernels.toolchains.cache import folder
from platforms.targets import compiling
from platforms.targets.architecture import Architecture
from platforms.targets.launch import Launch
from platforms.targets.reading import Reading


class Known:
    """Readings by launch and architecture, kept in ``file``; what was cut off is not kept."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or folder() / f"targets-{triton.__version__}-{_how()}.jsonl"
        self._readings: dict[str, Reading] = {}
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                self._remember(line)

    def _remember(self, line: str) -> None:
        try:
            key, value = json.loads(line)
        except ValueError:
            return  # the last line of an audit that was stopped
        self._readings[key] = Reading.from_value(value)

    def get(self, launch: Launch, one: Architecture) -> Reading | None:
        """Return the reading of ``launch`` for ``one``, or None."""
        return self._readings.get(f"{launch.digest}@{one.name}")

    def add(self, launch: Launch, reading: Reading) -> None:
        """Keep a reading."""
        if reading.unfinished:
            return
        key = f"{launch.digest}@{reading.target}"
        self._readings[key] = reading
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, reading.to_value()]) + "\n")


def _how() -> str:
    """Return a digest of how code is read: what was read otherwise is read again."""
    said = Path(str(compiling.__file__)).read_text(encoding="utf-8"), [one.name for one in fields(Reading)]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:8]
