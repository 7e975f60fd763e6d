"""Many bundles into one: the records of all as a Parquet table, the environments by run, everything else beside it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from reports import manifest
from reports.bundle import ENVIRONMENT, RECORDS
from reports.fleet.loading import RUNS, TABLE, Fleet, RunFacts
from reports.manifest import MANIFEST, BundleError

_COPY = "COPY (SELECT {columns}, id AS run_id FROM raw JOIN ids USING (run) ORDER BY run, raw.rowid) TO '{path}'"
_FORMAT = "(FORMAT parquet, COMPRESSION zstd)"
_OWN = (ENVIRONMENT, RECORDS, TABLE, MANIFEST)


def merge(fleet: Fleet, directory: str | os.PathLike[str]) -> Path:
    """Write the runs of ``fleet`` as one sealed bundle into ``directory``, which must be empty or not there.

    Files beside the records, such as samples, keep their names behind the id of their run. Raises BundleError if the
    bundle cannot be written.
    """
    path = Path(directory)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if held := next(path.iterdir(), None):
            raise BundleError(f"{path} already holds {held.name}; bundles are merged into an empty folder")
        _write_table(fleet, path / TABLE)
        environment = {RUNS: {run.id: run.environment for run in fleet.runs}}
        manifest.replace(path / ENVIRONMENT, (json.dumps(environment, indent=2) + "\n").encode())
        for run in fleet.runs:
            for file in others(run):
                shutil.copyfile(file, path / f"{run.id}.{file.name.removeprefix(f'{run.id}.')}")
    except OSError as error:
        raise BundleError(f"cannot merge into {path}: {error}") from None
    manifest.begin(path)
    manifest.seal(path)
    return path


def others(run: RunFacts) -> list[Path]:
    """Return the files that belong to a run beside records and environment."""
    merged = (run.directory / TABLE).exists()
    files = sorted(run.directory.glob(f"{run.id}.*" if merged else "[!.]*"))
    return [file for file in files if file.is_file() and not file.is_symlink() and file.name not in _OWN]


def _write_table(fleet: Fleet, path: Path) -> None:
    fleet.database.execute("CREATE OR REPLACE TEMP TABLE ids (run INTEGER, id VARCHAR)")
    for run in fleet.runs:
        fleet.database.execute("INSERT INTO ids VALUES (?, ?)", [run.number, run.id])
    columns = ", ".join(f'raw."{name}"' for name in fleet.columns)
    fleet.database.execute(f"{_COPY.format(columns=columns, path=str(path).replace(chr(39), 2 * chr(39)))} {_FORMAT}")
