"""Builds that are made once: what a compiler made of the same command and the same sources is taken from a cache."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernels.toolchains.cache import alone, folder

INCLUDE = Path(__file__).parent / "include"
"""The headers that kernels include; part of every build."""

_LONGEST = 3000  # characters of a compiler's complaints


class BuildError(Exception):
    """A compiler refused a source; the message holds the command and what it said."""


def build(sources: Sequence[Path], command: Sequence[str], headers: Sequence[Path] = ()) -> Path:
    """Return the file that ``command`` makes of ``sources``; raises BuildError.

    ``headers`` are what they include beside those of :data:`INCLUDE`. Processes that ask for the same at the same time
    wait for one of them, and none sees a file that is not whole.
    """
    made = folder() / _key([*sources, *headers], command)
    if made.exists():
        return made
    with alone(made.with_suffix(".lock")):
        if not made.exists():
            _compile(sources, command, made)
    return made


def _compile(sources: Sequence[Path], command: Sequence[str], made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as within:
        fresh = Path(within) / "out"
        whole = [*command, f"-I{INCLUDE}", *map(str, sources), "-o", str(fresh)]
        try:
            ended = subprocess.run(whole, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error}") from None
        if ended.returncode or not fresh.exists():
            said = (ended.stderr or ended.stdout).strip()
            raise BuildError(f"exit code {ended.returncode} of {' '.join(whole)}\n{said[:_LONGEST]}")
        fresh.replace(made)


def _key(sources: Sequence[Path], command: Sequence[str]) -> str:
    """Return a name for what ``command`` makes of ``sources``, in which every input of the build takes part."""
    digest = hashlib.sha256("\0".join([*command, _version(command[0])]).encode())
    for file in [*sources, *sorted(INCLUDE.iterdir())]:
        digest.update(file.read_bytes())
    return f"{sources[0].parent.name}-{digest.hexdigest()[:24]}"


@functools.cache
def _version(compiler: str) -> str:
    """Return what ``compiler`` calls itself, or "" where it is not there and only the cache can help."""
    try:
        ended = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return ended.stdout
