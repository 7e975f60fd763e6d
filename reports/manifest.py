"""The manifest of a bundle: its format, which run it is of, and, once that is over, a checksum of every file.

Without checksums the run was killed or still goes on: what there is can be read, but nobody can say that it is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"

FORMAT = 1
"""The format that this code writes, and the newest that it reads."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ID = re.compile(r"[0-9a-f]{32}")
_SUM = re.compile(r"[0-9a-f]{64}")


class BundleError(Exception):
    """A bundle cannot be written or read; the message names the file and says what is wrong."""


@dataclass(frozen=True)
class Manifest:
    """What a manifest says. ``files`` are the sizes and SHA-256 sums by name; None before the run is over."""

    id: str
    format: int = FORMAT
    files: Mapping[str, tuple[int, str]] | None = None


def is_id(value: object) -> bool:
    """Return whether ``value`` may be the id of a run."""
    return isinstance(value, str) and bool(_ID.fullmatch(value))


def begin(directory: Path) -> None:
    """Write the manifest of a run that begins. Raises BundleError if it cannot be written."""
    _write(directory, Manifest(uuid.uuid4().hex))


def seal(directory: Path) -> None:
    """Put the checksums of all files into the manifest; nothing may be added then. Raises BundleError if it fails."""
    manifest = load(directory)
    try:
        names = sorted(one.name for one in directory.iterdir() if _NAME.fullmatch(one.name) and one.name != MANIFEST)
        files = {name: ((directory / name).stat().st_size, _sum(directory / name)) for name in names}
    except OSError as error:
        raise BundleError(f"cannot read what is to be sealed in {directory}: {error}") from None
    _write(directory, Manifest(manifest.id, files=files))


def load(directory: Path) -> Manifest:
    """Return the manifest in ``directory``, whatever the files are. Raises BundleError if there is none, or another."""
    path = directory / MANIFEST
    if not directory.is_dir():
        raise BundleError(f"{directory} is {'a file' if directory.exists() else 'not there'}; a bundle is a folder")
    value = read_object(path)
    found = value.get("format")
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        raise BundleError(f"{path} is of format {found!r}; this version reads format 1 to {FORMAT}")
    if not is_id(value.get("id")):
        raise BundleError(f'{path}: "id" must be 32 hexadecimal digits, not {value.get("id")!r}')
    return Manifest(str(value["id"]), found, _files(path, value.get("files")))


def check(directory: Path) -> Manifest:
    """Return the manifest, once each file has its checksum. Raises BundleError for the first that has not."""
    manifest = load(directory)
    for name, (size, expected) in (manifest.files or {}).items():
        path = directory / name
        if not path.is_file() or path.is_symlink():
            raise BundleError(f"{path} is missing, or no plain file; the manifest lists it")
        found = path.stat().st_size
        if found < size:
            raise BundleError(f"{path} is truncated: {found} bytes of {size}")
        if _sum(path) != expected:
            raise BundleError(f"{path} was changed after the run: its checksum is not that of the manifest")
    return manifest


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in ``path``, a file of a bundle. Raises BundleError for anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BundleError(f"{path.parent} is not a bundle: it has no {path.name}") from None
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BundleError(f"{path} must hold a JSON object, not {value!r}")
    return value


def replace(path: Path, data: bytes) -> None:
    """Put ``data`` into ``path``, so that readers see the file from before or after; raises BundleError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BundleError(f"cannot write {path}: {error.strerror}") from None


def _files(path: Path, value: object) -> dict[str, tuple[int, str]] | None:
    if value is None:
        return None
    right = isinstance(value, dict) and all(
        _NAME.fullmatch(name)
        and isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], int)
        and _SUM.fullmatch(str(pair[1]))
        for name, pair in value.items()
    )
    if not right:
        raise BundleError(f'{path}: "files" must hold [bytes, SHA-256] by plain names of files')
    return {name: (size, digest) for name, (size, digest) in value.items()}  # type: ignore[attr-defined]


def _sum(path: Path) -> str:
    # hashlib.file_digest needs Python 3.11.
    state = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            state.update(block)
    return state.hexdigest()


def _write(directory: Path, manifest: Manifest) -> None:
    replace(directory / MANIFEST, (json.dumps(asdict(manifest), indent=2) + "\n").encode())
