"""Running Portolan as its users do: pytest in a process of its own, and what its bundle holds afterwards."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from reports.bundle import read
from reports.record import Record, outcome

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = ROOT / "suites" / "meta" / "mutants"


@dataclass(frozen=True)
class Finished:
    """A pytest run that is over: its exit status, all that it printed, and its records."""

    status: int
    text: str
    records: list[Record]

    def failures(self) -> dict[str, Record]:
        """Return the last failing record of each implementation: its smallest case."""
        return {record.implementation: record for record in self.records if outcome(record) == "fail"}


def run_pytest(*arguments: str | Path, bundle: Path, suite: str = "equivalence", timeout: float = 900) -> Finished:
    """Run ``suite`` at the root with ``arguments``, its bundle in ``bundle``, which need not exist afterwards."""
    asked = [*map(str, arguments), f"suites/test_{suite}.py"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--bundle", str(bundle), *asked]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    records = list(read(bundle).records) if (bundle / "records.jsonl").exists() else []
    return Finished(ended.returncode, ended.stdout + ended.stderr, records)
