"""Do the workflows of CI systems ask for what there is?"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from platforms.__main__ import main as platforms
from reports.__main__ import main as reports
from reports.bundle import Bundle
from reports.record import Record
from suites.meta.cli import ROOT

GITHUB, GITLAB = ROOT / ".github" / "workflows" / "fleet.yml", ROOT / ".gitlab-ci.yml"
BOTH = pytest.mark.parametrize("workflow", [GITHUB, GITLAB], ids=["github", "gitlab"])


def commands(workflow: Path) -> dict[str, list[list[str]]]:
    """Return the arguments that a workflow gives to environments of tox, by environment."""
    found: dict[str, list[list[str]]] = {}
    for environment, rest in re.findall(r"python3 -m tox -e (\S+) -- ([^|\n]+)", workflow.read_text()):
        found.setdefault(environment.strip('"'), []).append(shlex.split(rest))
    return found


def test_actionlint_finds_nothing() -> None:
    if not shutil.which("actionlint"):
        pytest.skip("there is no actionlint; tox -e lint holds the workflow against its schema alone")
    ended = subprocess.run(["actionlint", str(GITHUB)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


@BOTH
def test_what_a_workflow_runs_is_an_environment_of_tox(workflow: Path) -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    chosen = re.findall(r"ENVIRONMENT: (\w+)$|(?:&&|\|\|) '(\w+)'", workflow.read_text(), re.MULTILINE)
    named = {*commands(workflow), *(one or other for one, other in chosen)} - {"$ENVIRONMENT"}
    assert named >= {"audit", "reports"}
    assert [name for name in named if f"testenv:{name}" not in tox] == []


@BOTH
@pytest.mark.parametrize("verdict", ["exact", "crashed"])
def test_the_verdict_of_a_workflow_is_that_of_its_bundles(
    workflow: Path, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for host in ("nvidia", "hosted"):
        with Bundle.create(tmp_path / "bundles" / host, {"host": host}) as bundle:
            bundle.append(record(verdict if host == "nvidia" else "exact"))
            bundle.seal()
    ended = [reports([file for word in line for file in expanded(word)]) for line in commands(workflow)["reports"]]
    assert ended == [0] * (len(ended) - 1) + [int(verdict == "crashed")]
    assert ("**CRASHED** `add/torch/eager`" in (tmp_path / "summary.md").read_text()) is (verdict == "crashed")
    assert json.loads((tmp_path / "fleet" / "environment.json").read_text())["runs"]


def expanded(word: str) -> list[str]:
    """Return what a shell makes of a word in the current folder."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def record(verdict: str) -> Record:
    return Record(
        suite="equivalence",
        case='{"operation":"add"}',
        operation="add",
        dtype="float32",
        implementation="add/torch/eager",
        platform="cpu",
        verdict=verdict,
    )


def test_vendors_with_a_platform_file_are_the_labels_of_runners(capsys: pytest.CaptureFixture[str]) -> None:
    assert platforms(["vendors"]) == 0
    labels = json.loads(capsys.readouterr().out)
    assert labels[0] == "nvidia"
    assert all((ROOT / "platforms" / "vendors" / f"{label}.py").exists() for label in labels)
