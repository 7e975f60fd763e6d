"""What it costs to merge and compare a fleet's history: ``python -m suites.benchmarks.scale [RECORDS ...]``.

Synthetic bundles of several machines are made, and read, compared and merged as :mod:`reports.fleet` does. Each size
has a process of its own, since the table shows how much memory it took at most.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
from tabulate import tabulate

from reports.bundle import RECORDS, Bundle
from reports.fleet.carrying import carried
from reports.fleet.cells import cells
from reports.fleet.loading import Fleet
from reports.fleet.merging import merge

SIZES = (1_000_000, 10_000_000)
MACHINES = 4
_HEADINGS = ("records", "JSON, MB", "read, s", "verdicts, s", "compare, s", "merge, s", "per million, s", "memory, GB")
_OPERATIONS, _IMPLEMENTATIONS = 50, 200
_SYNTHETIC = """
    COPY (
        SELECT 'equivalence' AS suite, 'op' || (i % {operations}) AS operation, 'float32' AS dtype,
               '{{"operation":"op' || (i % {operations}) || '","dtype":"float32","dims":{{"x":[17,33]}},"tensors":'
               || '{{"x":{{"regime":"normal","layout":"padded3"}}}},"seed":' || (i // {implementations}) || '}}'
               AS "case",
               'op' || (i % {operations}) || '/triton/k' || (i % {implementations}) AS implementation,
               'platform{machine}' AS platform, 561 AS elements,
               CASE WHEN hash(i + {machine}) % 100 = 0 THEN 'drift' ELSE 'within' END AS verdict,
               CASE WHEN hash(i + {machine}) % 100 = 0 THEN 'declared numerics tf32' ELSE '' END AS accounted,
               0.4 AS share, 0.1 AS hard_share, 0.3 AS rms_ulp, 0.01 AS bias_ulp, 0.001 AS seconds,
               hex(hash(i + {machine} * (i % 7 // 6))) AS digest, hex(hash(i)) AS input_digest
        FROM range({number}) AS numbers(i)
    ) TO '{path}' (FORMAT json)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, a row for each number of records, and return 0."""
    sizes = [int(text) for text in (sys.argv[1:] if arguments is None else arguments)] or SIZES
    context = multiprocessing.get_context("spawn")
    rows = []
    for size in sizes:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measured, (size,)))
    print(tabulate(rows, _HEADINGS, floatfmt=".1f", intfmt=","))
    return 0


def measured(number: int) -> list[Any]:
    """Return a row of the table: what ``number`` records cost."""
    with tempfile.TemporaryDirectory(prefix="portolan-scale-") as folder:
        bundles = [_bundle(Path(folder) / str(machine), machine, number // MACHINES) for machine in range(MACHINES)]
        size = sum((bundle / RECORDS).stat().st_size for bundle in bundles)
        fleet, reading = _timed(lambda: Fleet(bundles))
        with fleet:
            spent = [reading]
            steps: tuple[Callable[[Fleet], Any], ...] = (
                cells,
                carried,
                lambda one: merge(one, Path(folder) / "merged"),
            )
            spent += [_timed(lambda step=step: step(fleet))[1] for step in steps]  # type: ignore[misc]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [number, size / 1e6, *spent, sum(spent) / number * 1e6, memory]


def _bundle(directory: Path, machine: int, number: int) -> Path:
    with Bundle.create(directory, {"host": f"machine{machine}"}) as bundle:
        sizes = {"operations": _OPERATIONS, "implementations": _IMPLEMENTATIONS, "number": number}
        with duckdb.connect() as database:
            database.execute("SET enable_progress_bar = false")
            database.execute(_SYNTHETIC.format(machine=machine, path=directory / RECORDS, **sizes))
        bundle.seal()
    return directory


def _timed(step: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return step(), time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
