"""What implementations launched in earlier audits, so that nobody has to be called again to learn of it.

Calling one for every architecture takes longer than reading all that is known of what it launches. What it launches
depends on sources and on torch, of which a digest is taken: of every kernel and contract, and of what calls them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import golden
import kernels
from kernels.operation import Operation
from kernels.registry import Implementation
from platforms.targets.architecture import Architecture
from platforms.targets.known import file_of
from platforms.targets.reading import Reading
from platforms.targets.toolchain import Build, NotTypical, Toolchain

_SOURCES = ("*.py", "*.cu", "*.cpp", "*.hpp", "*.h")


@dataclass(frozen=True)
class Noted:
    """A build as an earlier audit noted it. What it is built of is found out, in ``asked``, when it is to be read."""

    name: str
    configuration: str
    key: str
    digest: str
    grid: tuple[int, ...]
    asked: tuple[Toolchain, Operation, Implementation, str, Architecture] = field(repr=False, compare=False)

    def read(self, one: Architecture) -> Reading:
        """Return what the compiler makes of it for an architecture."""
        tools, operation, implementation, dtype, where = self.asked
        found = tools.builds(operation, implementation, dtype, where)
        return next(build for build in found if build.digest == self.digest).read(one)


class Launches:
    """What implementations launch, kept in files of ``folder``: one for each compiler and state of the sources."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, dict[str, Any]] = {}

    def of(
        self, tools: Toolchain, operation: Operation, implementation: Implementation, dtype: str, one: Architecture
    ) -> tuple[list[Build], str]:
        """Return what ``implementation`` launches in ``dtype`` on an architecture, or why nobody knows."""
        file = file_of(self._folder, "launches", tools.compiler, _state(implementation.source))
        known = self._of(file)
        key = f"{implementation.id} {dtype}@{one.name}"
        asked = (tools, operation, implementation, dtype, one)
        if key not in known:
            return self._found(file, key, asked)
        noted, error = known[key]
        return [
            Noted(name, setting, build, digest, tuple(grid), asked) for name, setting, build, digest, grid in noted
        ], error

    def _found(self, file: Path, key: str, asked: tuple[Any, ...]) -> tuple[list[Build], str]:
        found: list[Build] = []
        error = ""
        try:
            found = asked[0].builds(*asked[1:])
        except NotTypical as why:
            error = f"{type(why).__name__}: {why}"
        except Exception as why:  # what it is, is why nobody knows; it may have been the machine's, and is not kept
            return [], f"{type(why).__name__}: {why}"
        noted = [[one.name, one.configuration, one.key, one.digest, list(getattr(one, "grid", ()))] for one in found]
        self._of(file)[key] = noted, error
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([key, [noted, error]]) + "\n")
        return found, error

    def _of(self, file: Path) -> dict[str, Any]:
        if file not in self._known:
            self._known[file] = dict(_lines(file))
        return self._known[file]


def _lines(file: Path) -> Iterator[tuple[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with contextlib.suppress(ValueError):  # the last line of an audit that was stopped
            key, value = json.loads(line)
            yield key, value


@functools.cache
def _state(source: str) -> str:
    """Return a digest of all that decides what the implementation in the file ``source`` launches."""
    own = Path(source).parent
    rooms = [Path(one).parent for one in (kernels.__file__, golden.__file__, __file__) if one]
    within = any(own.is_relative_to(room) for room in rooms)
    said = repr([torch.__version__, *map(_digest, rooms if within else [*rooms, own])])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


@functools.cache
def _digest(folder: Path) -> str:
    files = sorted(file for pattern in _SOURCES for file in folder.rglob(pattern))
    said = [(str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]
    return hashlib.sha256(repr(said).encode()).hexdigest()
