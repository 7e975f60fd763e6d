"""How requests and outcomes become bytes between processes: builtin values through execnet's serializer, no pickle.

Arrays travel as their little-endian bytes with dtype and shape beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import execnet
import numpy as np

from platforms.outcome import Damage, Outcome, Result


class WireError(ValueError):
    """What came over the wire is not what was agreed."""


def pack(value: Any) -> bytes:
    """Return ``value`` (None, bool, int, float, str, bytes, list, tuple, dict of these) as bytes."""
    return execnet.dumps(value)


def unpack(data: bytes) -> Any:
    """Return the value in ``data``; raises WireError if there is none."""
    try:
        return execnet.loads(data)
    except (execnet.DataFormatError, EOFError) as error:
        raise WireError(f"{len(data)} bytes from a worker are not a message: {error}") from None


def outcome_to_value(outcome: Outcome) -> dict[str, Any]:
    """Return ``outcome`` as builtin values, for :func:`pack`."""
    return {
        "status": outcome.status,
        "results": results_to_value(outcome.results),
        "damage": [(one.kind, one.detail) for one in outcome.damage],
        "seconds": float(outcome.seconds),
        "message": outcome.message,
        "input_digest": outcome.input_digest,
        "others": [(said, results_to_value(results)) for said, results in outcome.others],
    }


def outcome_from_value(value: dict[str, Any]) -> Outcome:
    """Return the outcome that :func:`outcome_to_value` made ``value`` of; raises WireError for anything else."""
    try:
        return Outcome(
            status=value["status"],
            results=results_from_value(value["results"]),
            damage=tuple(Damage(kind, detail) for kind, detail in value["damage"]),
            seconds=value["seconds"],
            message=value["message"],
            input_digest=value["input_digest"],
            others=tuple((said, results_from_value(results)) for said, results in value["others"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"a worker sent a malformed outcome: {type(error).__name__}: {error}") from None


def results_to_value(results: Sequence[Result]) -> list[Any]:
    return [(array_to_value(one.array), one.dtype, list(one.shape)) for one in results]


def results_from_value(value: list[Any]) -> tuple[Result, ...]:
    return tuple(Result(array_from_value(array), dtype, tuple(shape)) for array, dtype, shape in value)


def array_to_value(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return array.dtype.str, tuple(int(size) for size in array.shape), array.tobytes()


def array_from_value(value: tuple[str, tuple[int, ...], bytes]) -> np.ndarray:
    dtype, shape, data = value
    array = np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
