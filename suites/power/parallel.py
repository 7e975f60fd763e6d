"""Trials side by side: each process has its own workers, and one operation with one seed is one piece of work."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path

from reports.bundle import Bundle
from suites.options import register_depths
from suites.power.trial import Bench, Trial
from suites.subject import Selection

Piece = tuple[str, str, int]
"""A method of :class:`suites.power.trial.Bench`, an operation and a seed."""

_bench: Bench


def trials(
    pieces: Sequence[Piece], *, processes: int, selection: Selection, time_limit: float
) -> Iterator[tuple[Piece, list[Trial]]]:
    """Yield each of ``pieces`` with its trials, as they come."""
    with tempfile.TemporaryDirectory() as scratch:
        options = (scratch, selection, time_limit)
        with get_context("spawn").Pool(processes, _open, options) as pool:
            yield from pool.imap_unordered(_run, pieces)


def _open(scratch: str, selection: Selection, time_limit: float) -> None:
    global _bench
    register_depths()
    own = Path(scratch) / str(os.getpid())
    Bundle.create(own, {}).close()
    _bench = Bench.open(str(own), selection, time_limit)
    atexit.register(_bench.close)


def _run(piece: Piece) -> tuple[Piece, list[Trial]]:
    kind, operation, seed = piece
    return piece, getattr(_bench, kind)(operation, seed)
