"""What a run needs beside torch and Triton, looked for before anything is imported that would miss it.

It imports nothing but pytest and what pytest needs itself, and is imported first.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements.txt"

_ON_DEMAND = ("pytest-xdist",)
"""What only an option needs: -n."""


def missing(lines: Iterable[str]) -> list[Requirement]:
    """Return which requirements, a line each and comments among them, are not installed, or too old."""
    wanted = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    return [one for one in wanted if one.name not in _ON_DEMAND and not _there(one)]


def message(lacking: Iterable[Requirement]) -> str:
    """Return what to do about what is ``lacking``, with and without a network."""
    named = " ".join(f"'{one}'" for one in lacking)
    this = f"--python-version {sys.version_info.major}.{sys.version_info.minor}"
    if sys.platform == "linux":
        this += f" --platform manylinux2014_{platform.machine()}"
    return "\n".join(
        (
            f"Portolan needs {named}, which {sys.executable} does not have.",
            "  None of them touches torch or Triton. Install them beside what is there:",
            f"    {sys.executable} -m pip install -r requirements.txt",
            "  Without a network, fetch them on a machine that has one, and carry the folder over:",
            f"    python3 -m pip download --dest wheels --only-binary :all: {this} {named}",
            f"    {sys.executable} -m pip install --no-index --find-links wheels {named}",
        )
    )


def check() -> None:
    """Raise UsageError, which says what to do, where something is missing."""
    if lacking := missing(REQUIREMENTS.read_text(encoding="utf-8").splitlines()):
        raise pytest.UsageError(message(lacking))


def _there(one: Requirement) -> bool:
    try:
        return one.specifier.contains(importlib.metadata.version(one.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return False


check()
