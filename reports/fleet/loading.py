"""A fleet: the records of any number of bundles, also merged ones, in one table of a database on disk.

Memory stays bounded, since the database may be larger than it. Every bundle is held against its checksums first, and
its records against what a record may say, so that a malformed one is one clear error and nothing of it is believed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from reports import manifest
from reports.bundle import ENVIRONMENT, RECORDS
from reports.journal import Journal
from reports.manifest import BundleError, read_object
from reports.record import VERDICTS, Record

TABLE = "records.parquet"
"""What a merged bundle holds instead of a journal."""

MEMORY = "4GB"
"""What the database may take of the machine's memory; the rest of it lies on disk."""

RUNS = "runs"
"""The key under which the environment of a merged bundle has those of its runs, by id."""

_TYPES = {"str": "VARCHAR", "int": "BIGINT", "float | None": "DOUBLE", "tuple[str, ...]": "VARCHAR[]"}
_COLUMNS = {field.name: _TYPES[str(field.type)] for field in fields(Record)}
_FIGURES = [name for name, kind in _COLUMNS.items() if kind == "DOUBLE"]
_OUTCOME = """
    CASE WHEN verdict IN ('vacuous', 'unsupported') THEN 'none'
         WHEN verdict IN ('exact', 'within') OR (verdict = 'drift' AND accounted <> '') THEN 'pass'
         ELSE 'fail' END
"""
_WORDS = " AND ".join(f"regexp_full_match({name}, '[!-~]+')" for name in ("suite", "operation", "dtype", "platform"))
_SOUND = f"""
    list_contains($verdicts, verdict) AND {_WORDS} AND "case" <> ''
    AND regexp_full_match(implementation, '[!-.0-~]+/[!-.0-~]+/[!-.0-~]+')
    AND starts_with(implementation, operation || '/')
    AND NOT ({" OR ".join(f"isnan(coalesce({name}, 0))" for name in _FIGURES)})
"""


@dataclass(frozen=True)
class RunFacts:
    """One run of a fleet: which it is, on which machine and when, and its environment."""

    number: int
    id: str
    machine: str
    started: str
    directory: Path
    environment: dict[str, Any]

    @property
    def replay(self) -> str:
        """What else a command needs that replays a case of this run."""
        return str(self.environment.get("replay", ""))


class Fleet:
    """Bundles, read; a context manager, since the database has a folder of its own.

    ``records`` has a row for each record: the fields of :class:`reports.record.Record`, ``run`` (the number of its
    run), ``outcome``, ``rank`` (how bad its verdict is), ``token`` (a number for its case), and ``place``: its
    platform, with its machine where several machines have one of that name. ``latest`` has of every implementation on
    every place those of the last run alone. Raises BundleError for a bundle that cannot be read or is there twice.
    """

    def __init__(self, directories: Sequence[str | os.PathLike[str]]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="portolan-fleet-")
        self.database = duckdb.connect(str(Path(self._folder.name) / "fleet.duckdb"), config={"memory_limit": MEMORY})
        self.database.execute("SET enable_progress_bar = false")  # it would draw into pipes and logs
        self.runs: list[RunFacts] = []
        self.problems: list[str] = []
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS.items())
        self.database.execute(f"CREATE TABLE raw ({columns}, run INTEGER)")
        try:
            for directory in directories:
                self._read(Path(directory))
            self._finish()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Fleet:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and remove it."""
        self.database.close()
        self._folder.cleanup()

    def rows(self, query: str, parameters: Any = None) -> list[dict[str, Any]]:
        """Return what ``query`` selects, a dict a row."""
        answer = self.database.execute(query, parameters)
        names = [column[0] for column in answer.description]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    @property
    def places(self) -> list[str]:
        """Every place that has records, those of earlier bundles first."""
        return [row["place"] for row in self.rows("SELECT place FROM places ORDER BY position")]

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of a record, in order."""
        return tuple(_COLUMNS)

    def run_of(self, number: int) -> RunFacts:
        """Return the run that ``number`` stands for in the table."""
        return self.runs[number]

    def _read(self, directory: Path) -> None:
        said, first = manifest.check(directory), len(self.runs)
        environment = read_object(directory / ENVIRONMENT)
        if said.files is None:
            self.problems.append(f"{directory}: its run did not end, or goes on; nothing says that it is whole")
        if (directory / TABLE).exists():
            numbers = self._add_merged(directory, environment)
            known = f"map({list(numbers)}, {list(numbers.values())})"
            self._insert(f"read_parquet('{_quoted(directory / TABLE)}')", directory, f"{known}[run_id]", first)
        else:
            number = self._add_run(said.id, directory, environment)
            self._insert(self._journal(directory), directory, str(number), first)

    def _add_run(self, name: str, directory: Path, environment: dict[str, Any]) -> int:
        if name in {run.id for run in self.runs}:
            raise BundleError(f"{directory} holds the run {name}, which another bundle holds too")
        machine, started = str(environment.get("host", "unknown")), str(environment.get("started", ""))
        self.runs.append(RunFacts(len(self.runs), name, machine, started, directory, environment))
        return len(self.runs) - 1

    def _add_merged(self, directory: Path, environment: dict[str, Any]) -> dict[str, int]:
        runs = environment.get(RUNS)
        if not isinstance(runs, dict) or not all(
            manifest.is_id(name) and isinstance(runs[name], dict) for name in runs
        ):
            raise BundleError(f'{directory / ENVIRONMENT}: "{RUNS}" must hold the environments of runs by id')
        return {name: self._add_run(name, directory, one) for name, one in runs.items()}

    def _journal(self, directory: Path) -> str:
        journal = Journal(directory / RECORDS)
        self.problems += journal.problems
        source = directory / RECORDS
        if journal.marred:
            source = Path(self._folder.name) / f"{len(self.runs)}.jsonl"
            journal.copy_whole_lines(source)
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items())
        return f"read_json('{_quoted(source)}', format = 'newline_delimited', columns = {{{columns}}})"

    def _insert(self, source: str, directory: Path, number: str, first: int) -> None:
        """Add the records of ``source``, a table function; ``number`` says their run, ``first`` or above."""
        named = ", ".join(_filled(name, kind) for name, kind in _COLUMNS.items())
        try:
            self.database.execute(f"INSERT INTO raw SELECT {named}, {number} FROM {source}")
            unsound = self.rows(
                f"SELECT * FROM raw WHERE run IS NULL OR (run >= {first} AND NOT ({_SOUND})) LIMIT 1",
                {"verdicts": list(VERDICTS)},
            )
        except duckdb.Error as error:
            raise BundleError(f"{directory} has malformed records: {str(error).splitlines()[0]}") from None
        if unsound:
            raise BundleError(f"{directory} has a record that says what none may say: {_shortly(unsound[0])}")

    def _finish(self) -> None:
        run = self.database.execute
        run("CREATE TABLE runs (run INTEGER, machine VARCHAR, started VARCHAR)")
        for one in self.runs:
            run("INSERT INTO runs VALUES (?, ?, ?)", [one.number, one.machine, one.started])
        run("""
            CREATE TABLE places AS
            WITH found AS (
                SELECT platform, machine, min(run) AS run FROM (SELECT DISTINCT platform, run FROM raw)
                JOIN runs USING (run) GROUP BY platform, machine
            )
            SELECT platform, machine, row_number() OVER (ORDER BY run, platform) AS position,
                   platform || CASE WHEN count(*) OVER (PARTITION BY platform) > 1 THEN '@' || machine ELSE '' END
                   AS place
            FROM found
        """)
        run(
            f"""
            CREATE VIEW records AS
            SELECT raw.*, raw.rowid AS line, place, position, started, hash("case") AS token, {_OUTCOME} AS outcome,
                   list_position({list(VERDICTS)}, verdict) AS rank
            FROM raw JOIN runs USING (run) JOIN places USING (platform, machine)
            """
        )
        run("""
            CREATE TABLE presence AS
            SELECT implementation, place, run,
                   row_number() OVER (PARTITION BY implementation, place ORDER BY started DESC, run DESC) AS age
            FROM (SELECT DISTINCT implementation, place, run, started FROM records)
        """)
        run(
            "CREATE VIEW latest AS SELECT records.* FROM records JOIN presence USING (implementation, place, run)"
            " WHERE age = 1"
        )


def _filled(name: str, kind: str) -> str:
    """Return an expression for a column, with what a record has where its line says nothing."""
    default = {"VARCHAR": "''", "BIGINT": "0", "VARCHAR[]": "[]"}.get(kind, "NULL")
    return f'coalesce("{name}", {default})'


def _shortly(row: dict[str, Any]) -> str:
    said = ", ".join(f"{name} {row[name]!r}" for name in ("suite", "implementation", "platform", "dtype", "verdict"))
    return f"{said}, case {str(row['case'])[:60]!r}"


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
