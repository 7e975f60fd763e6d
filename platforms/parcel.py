"""The code that a gateway is sent, so that the machine behind it needs no copy and runs what is here: one archive."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = ("golden", "kernels", "platforms")
"""What a worker imports."""

NEEDED = ("execnet", "hypothesis", "numpy")
"""What a worker imports of others; torch, triton and the like are the machine's own."""

LARGEST = 64 * 2**20
"""Bytes that an archive may have: more is no folder of kernels, but one that has other things in it too."""

_ROOT = Path(__file__).resolve().parent.parent
_LEFT_OUT = {"__pycache__", "corpus", "vectors"}


class ParcelError(Exception):
    """There is too much to send; the message says what was to be sent."""


def pack(kernels: Sequence[Path]) -> bytes:
    """Return the archive of the packages and of files and folders of ``kernels``; the same bytes for the same code.

    Raises ParcelError where it is larger than :data:`LARGEST`.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, file in _files(kernels):
            # The ZipInfo has no date, nor anything else of the file but its name.
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
            if buffer.tell() > LARGEST:
                named = ", ".join(map(str, kernels))
                raise ParcelError(f"more than {LARGEST >> 20} MiB would be sent through a gateway; kernels: {named}")
    return buffer.getvalue()


def place(number: int, kernels: Path) -> str:
    """Return where in the archive the file or folder is that was the ``number``-th one packed."""
    return f"given/{number}/{kernels.name}"


def _files(kernels: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        yield from _within(_ROOT / package, package)
    for number, path in enumerate(kernels):
        if path.is_dir():
            yield from _within(path, place(number, path))
        else:
            # Sources in another language stand beside the Python file, under its name.
            for file in sorted(path.parent.glob(f"{path.stem}.*")):
                yield place(number, file), file


def _within(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        inner = file.relative_to(folder)
        if file.is_file() and not _LEFT_OUT.intersection(inner.parts):
            yield f"{name}/{inner.as_posix()}", file
