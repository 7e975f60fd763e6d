"""Sampled outputs in a bundle: a few elements of each, so that two machines can be compared beyond equal or not.

A process keeps what it samples and writes a file of them now and then, whole; a killed one loses the last of them. A
file is npz without pickle, and holds columns: ``keys`` and ``results`` say which output of which record it is,
``dtypes`` and ``starts`` how its elements lie in ``data``.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reports.manifest import BundleError, replace
from reports.record import Record

ELEMENTS = 32
"""Elements that are kept of an output, evenly spread: a run of ten thousand records then stays at some megabytes."""

_FLUSHED = 4096
_PATTERN = "samples-*.npz"
_LARGEST = 2**28  # bytes that one file may unpack to
_COLUMNS = {"keys": "S16", "results": "<u2", "dtypes": "S4", "starts": "<u8", "data": "|u1"}
_KINDS = frozenset(f"{order}{kind}{size}" for order in "<|" for kind in "biufc" for size in (1, 2, 4, 8, 16))

Samples = dict[str, tuple[np.ndarray, ...]]
"""What is kept of the outputs of each record, by :func:`key`."""


def key(record: Record) -> str:
    """Return what an output is called: implementation, platform and case in 16 hexadecimal digits."""
    text = f"{record.implementation} {record.platform} {record.case}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sampled(output: np.ndarray) -> np.ndarray:
    """Return up to ELEMENTS elements of ``output``, evenly spread, the first and the last among them."""
    flat = output.reshape(-1)
    kept = min(flat.size, ELEMENTS)
    return flat[np.arange(kept) * (flat.size - 1) // max(kept - 1, 1)]


class SampleWriter:
    """Keeps samples, and writes them into files in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._kept: Samples = {}
        self._number = count()

    def add(self, record: Record, outputs: Sequence[np.ndarray]) -> None:
        """Keep a sample of the outputs of ``record``; raises BundleError if one cannot be written."""
        self._kept[key(record)] = tuple(map(sampled, outputs))
        if len(self._kept) >= _FLUSHED:
            self.flush()

    def flush(self) -> None:
        """Write what is kept; raises BundleError if it cannot be."""
        if self._kept:
            name = f"samples-{os.getpid()}-{next(self._number)}.npz"
            replace(self._directory / name, _packed(self._kept))
            self._kept = {}


def samples(directory: Path, prefix: str = "") -> Samples:
    """Return all samples of the bundle in ``directory``, of a merged one those of a run: its id and a dot before them.

    Raises BundleError, with the file, for what is malformed.
    """
    found: Samples = {}
    for path in sorted(directory.glob(prefix + _PATTERN)):
        found.update(_unpacked(path))
    return found


def _packed(kept: Samples) -> bytes:
    rows = [(name, number, array) for name, arrays in kept.items() for number, array in enumerate(arrays)]
    plain = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for _, _, array in rows]
    columns = {
        "keys": [name.encode() for name, _, _ in rows],
        "results": [number for _, number, _ in rows],
        "dtypes": [array.dtype.str.encode() for array in plain],
        "starts": np.cumsum([0, *(array.nbytes for array in plain)]),
        "data": np.frombuffer(b"".join(array.tobytes() for array in plain), np.uint8),
    }
    file = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(column, _COLUMNS[name]) for name, column in columns.items()}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _unpacked(path: Path) -> Samples:
    columns = _columns(path)
    starts, data, kinds = columns["starts"], columns["data"].tobytes(), columns["dtypes"]
    found: dict[str, list[np.ndarray]] = {}
    for name, kind, (start, end) in zip(columns["keys"], kinds, pairwise(starts.tolist()), strict=True):
        found.setdefault(name.decode("ascii", "replace"), []).append(np.frombuffer(data[start:end], kind.decode()))
    return {name: tuple(arrays) for name, arrays in found.items()}


def _columns(path: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _LARGEST:
                raise ValueError(f"it unpacks to more than {_LARGEST >> 20} MiB")
        with np.load(path, allow_pickle=False) as file:
            columns = {name: file[name] for name in _COLUMNS}
        _check(columns)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise BundleError(f"{path} holds no samples: {error}") from None
    return columns


def _check(columns: dict[str, np.ndarray]) -> None:
    for name, dtype in _COLUMNS.items():
        if columns[name].dtype != np.dtype(dtype) or columns[name].ndim != 1:
            raise ValueError(f"{name} must be {dtype}, in one dimension, not {columns[name].dtype}")
    number, starts = len(columns["keys"]), columns["starts"].astype(np.int64)
    if {len(columns["results"]), len(columns["dtypes"]), len(starts) - 1} != {number}:
        raise ValueError("its columns are not of one length")
    if starts[0] != 0 or starts[-1] != len(columns["data"]) or (np.diff(starts) < 0).any():
        raise ValueError("its starts do not rise from 0 to the end of the data")
    kinds = columns["dtypes"]
    if unknown := sorted({kind.decode("ascii", "replace") for kind in kinds} - _KINDS):
        raise ValueError(f"{unknown[0]!r} is no dtype of numbers")
    if any(size % np.dtype(kind.decode()).itemsize for kind, size in zip(kinds, np.diff(starts), strict=True)):
        raise ValueError("an element is cut in two")


def equal(one: Samples, other: Samples, pairs: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return of how many sampled elements of ``pairs`` of keys the bits are the same, and how many were compared."""
    same = total = 0
    for first, second in pairs:
        for mine, theirs in zip(one.get(first, ()), other.get(second, ()), strict=False):
            if mine.shape == theirs.shape and mine.dtype == theirs.dtype:
                same += int((_bits(mine) == _bits(theirs)).all(axis=1).sum())
                total += len(mine)
    return same, total


def _bits(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), array.itemsize)
