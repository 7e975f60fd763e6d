"""Frozen data: the cases that every machine runs, and what golden makes of some of them.

``corpus/`` holds for each operation the cases that ``pytest --corpus`` runs, so that machines can be compared case by
case. ``vectors/`` holds digests of inputs and golden results: whatever the machine, its NumPy and its BLAS, they must
come out the same. A file begins with a header line; each further line is one case or one vector.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golden.case import Case, CaseError
from golden.dtypes import decode, dtype_of, encode
from golden.judge import Golden

FORMAT = 1
KINDS = ("corpus", "vectors")

MARGIN = 3.0
"""How many radii a true result must be away from the next rounding boundary for its element to be frozen.

Where one machine's golden value is that far away, the true result is at least two radii away, so that the value of any
other machine, within one radius of it, is certain as well and rounds to the same number.
"""

_ROOT = Path(__file__).parent


class FrozenError(ValueError):
    """A frozen file is damaged or of another format; the message names file and line."""


@dataclass(frozen=True)
class Vector:
    """A case, the digest of its inputs and that of its golden results, without the elements ``left_out``.

    Elements are counted flat, through one result after the other.
    """

    case: Case
    inputs: str
    nominal: str
    left_out: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        value: dict[str, Any] = {"case": json.loads(self.case.line), "inputs": self.inputs, "nominal": self.nominal}
        if self.left_out:
            value["left_out"] = list(self.left_out)
        return json.dumps(value, separators=(",", ":"))


def corpus(operation: str, root: Path = _ROOT) -> list[Case]:
    """Return the frozen cases of ``operation``; none where it has no file. Raises FrozenError."""
    return [_parsed(path, number, text) for path, number, text in _lines("corpus", operation, root)]


def vectors(operation: str, root: Path = _ROOT) -> list[Vector]:
    """Return the frozen vectors of ``operation``; none where it has no file. Raises FrozenError."""
    found = []
    for path, number, text in _lines("vectors", operation, root):
        try:
            value = json.loads(text)
            case = json.dumps(value["case"])
            vector = Vector(Case.parse(case), value["inputs"], value["nominal"], tuple(value.get("left_out", ())))
        except (ValueError, KeyError, TypeError) as error:
            raise FrozenError(f"{path}, line {number}: not a vector: {error}") from None
        found.append(vector)
    return found


def version(root: Path = _ROOT) -> str:
    """Return what identifies the whole corpus: 12 hex digits of the SHA-256 of its files."""
    state = hashlib.sha256()
    for path in sorted((root / "corpus").glob("*.jsonl")):
        state.update(path.name.encode() + path.read_bytes())
    return state.hexdigest()[:12]


def write(kind: str, operation: str, lines: list[str], root: Path = _ROOT) -> Path:
    """Write a frozen file, header first, and return its path."""
    path = _path(kind, operation, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"format": FORMAT, "kind": kind, "operation": operation}, separators=(",", ":"))
    path.write_text("\n".join([header, *lines]) + "\n", encoding="ascii")
    return path


def uncertain(goldens: Mapping[str, Golden], margin: float = MARGIN) -> tuple[int, ...]:
    """Return the elements that cannot be frozen: open ones, and those too close to a rounding boundary."""
    unsure = [
        (~golden.certain(margin) | np.isinf(np.broadcast_to(golden.hard, golden.value.shape))).reshape(-1)
        for golden in goldens.values()
    ]
    return tuple(int(index) for index in np.flatnonzero(np.concatenate(unsure)))


def nominal_digest(goldens: Mapping[str, Golden], left_out: tuple[int, ...]) -> str:
    """Return the SHA-256 (16 hex digits) of golden's rounded results, without the elements ``left_out``.

    Which NaN and which zero it is does not count.
    """
    state, start, left = hashlib.sha256(), 0, np.asarray(left_out, np.int64)
    for golden in goldens.values():
        values = decode(golden.nominal, golden.dtype).reshape(-1).copy()
        values[left[(left >= start) & (left < start + values.size)] - start] = 0
        start += values.size
        if dtype_of(golden.dtype).is_float:
            values = np.where(np.isnan(values), np.nan, values + 0.0)
        storage = encode(values, golden.dtype)
        state.update(f"{golden.dtype}{golden.value.shape}".encode())
        state.update(storage.astype(storage.dtype.newbyteorder("<"), copy=False).tobytes())
    return state.hexdigest()[:16]


def _path(kind: str, operation: str, root: Path) -> Path:
    return root / kind / f"{operation}.jsonl"


def _lines(kind: str, operation: str, root: Path) -> Iterator[tuple[Path, int, str]]:
    path = _path(kind, operation, root)
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        raise FrozenError(f"{path}: the last line is cut off")
    header, *rest = text.splitlines()
    expected = {"format": FORMAT, "kind": kind, "operation": operation}
    try:
        found = json.loads(header)
    except ValueError:
        found = None
    if found != expected:
        raise FrozenError(f"{path}, line 1: the header must be {json.dumps(expected)}, not {header[:200]}")
    for number, line in enumerate(rest, 2):
        yield path, number, line


def _parsed(path: Path, number: int, text: str) -> Case:
    try:
        case = Case.parse(text)
    except CaseError as error:
        raise FrozenError(f"{path}, line {number}: {error}") from None
    if case.operation != path.stem:
        raise FrozenError(f"{path}, line {number}: a case of {case.operation}")
    return case
