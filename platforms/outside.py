"""Platforms that others add: files that ``--platforms`` names, and entry points of installed packages.

Such a file is as good as one in this folder: it has a function ``find(probe, claims)`` (:mod:`platforms.platform`).
Workers import it too, so that what was named stands in an environment variable; a machine behind a gateway is not sent
it, and has it under the same path or as a package.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

VARIABLE = "PORTOLAN_PLATFORMS"
"""The environment variable with the files, separated as those of PATH are."""

GROUP = "portolan.platforms"
"""The group of entry points; each names a module with ``find``."""

_PREFIX = "platforms_outside_"


class PlatformFileError(Exception):
    """A file of platforms cannot be used; the message names it and says why."""


def announce(paths: Iterable[str]) -> None:
    """Have this process, and those that it starts, take the files at ``paths`` for platforms too."""
    files = [str(Path(path).resolve()) for path in paths]
    known = [one for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*known, *files]))


def finders() -> list[Callable[..., Any]]:
    """Return ``find`` of every file and package; raises PlatformFileError."""
    files = [one for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]
    return [*map(_find_of, map(_loaded, files)), *map(_find_of, _installed())]


def imported(module: str) -> ModuleType:
    """Return a module of platforms by its name, one of those from outside too."""
    if module.startswith(_PREFIX) and module not in sys.modules:
        finders()
    return importlib.import_module(module)


@functools.cache
def _loaded(path: str) -> ModuleType:
    name = f"{_PREFIX}{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise PlatformFileError(f"--platforms {path}: there is no such Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PlatformFileError(f"--platforms {path} does not import: {type(error).__name__}: {error}") from error
    return module


def _installed() -> list[ModuleType]:
    modules = []
    for point in importlib.metadata.entry_points(group=GROUP):
        try:
            modules.append(point.load())
        except Exception as error:
            raise PlatformFileError(f"entry point {point.name} of {GROUP} does not import: {error}") from error
    return modules


def _find_of(module: ModuleType) -> Callable[..., Any]:
    find = getattr(module, "find", None)
    if not callable(find):
        raise PlatformFileError(
            f"{module.__file__} has no function find(probe, claims), which yields the platforms that a machine has"
        )
    return find  # type: ignore[no-any-return]
