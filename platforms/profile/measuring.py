"""Asking a platform's worker for its profile, one machine after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from platforms.platform import Platform
from platforms.pool import PlaceLost, Pool, WorkerError

_WORKER = "platforms.profile.worker"
FAILED = "failed"
"""The answer of a machine that could not be asked to the end."""


def machines(pool: Pool, platform: Platform, extent: str, patterns: Sequence[str] = ()) -> list[str]:
    """Return the machines of ``platform``; see :func:`platforms.profile.worker.machines`."""
    return pool.call(platform, f"{_WORKER}:machines", patterns=list(patterns), extent=extent)


def answers(pool: Pool, platform: Platform, machine: str, extent: str) -> list[dict[str, Any]]:
    """Return what one machine answers to the questions of ``extent``; or that it failed, and why.

    Raises PlaceLost.
    """
    try:
        return pool.call(platform, f"{_WORKER}:answers", machine=machine, extent=extent)
    except PlaceLost:
        raise
    except WorkerError as error:
        return [_failed(machine, error)]


def measured(pool: Pool, platform: Platform, extent: str) -> Iterator[dict[str, Any]]:
    """Yield what every machine of ``platform`` answers to the questions of ``extent``; raises PlaceLost."""
    try:
        names = machines(pool, platform, extent)
    except PlaceLost:
        raise
    except WorkerError as error:
        yield _failed(platform.name, error)
        return
    for machine in names:
        yield from answers(pool, platform, machine, extent)


def product_at(
    pool: Pool, platform: Platform, implementation: str, dtype: str, *, rows: int, columns: int, terms: int
) -> dict[str, str]:
    """Return how an implementation of gemm adds up products of one shape, see
    :func:`platforms.profile.shaped.order_at`; what cannot be asked has a ``why``. Raises PlaceLost.
    """
    sides = {"rows": rows, "columns": columns, "terms": terms}
    try:
        return pool.call(platform, f"{_WORKER}:product_at", implementation=implementation, dtype=dtype, **sides)
    except PlaceLost:
        raise
    except WorkerError as error:
        return {"why": str(error)}


def _failed(machine: str, error: Exception) -> dict[str, Any]:
    why = f"could not be asked to the end: {error}"
    return {"machine": machine, "topic": "profile", "subject": "", "answer": FAILED, "evidence": {}, "breaks": why}
