"""Do the reports of many bundles say what is in them, once each, and does a gate decide the exit status?"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from reports.__main__ import main
from reports.audit import Audit
from reports.bundle import Bundle
from reports.fleet.loading import Fleet
from reports.fleet.merging import merge
from reports.heat import Arm, Heat
from reports.record import Record
from reports.samples import key, samples
from suites.meta.cli import ROOT

HOME, FAR = "genoa", "malta"


def record(case: str = "{}", **said: Any) -> Record:
    known = {"implementation": "gemm/torch/eager", "platform": "cpu", "verdict": "within", "share": 0.5, "digest": "a"}
    figures = {"elements": 4, "rms_ulp": 0.5, "bias_ulp": 0.0, "seconds": 1.0}
    return Record(suite="equivalence", case=case, operation="gemm", dtype="float32", **{**known, **figures, **said})


def failed(case: str = "{}", **said: Any) -> Record:
    return record(case, **{"verdict": "wrong", "share": 7.0, "digest": "b", "message": "3 of 4", **said})


def run(directory: Path, *records: Record, host: str = HOME, started: str = "2026-01-01", **facts: Any) -> Path:
    with Bundle.create(directory, {"host": host, "started": started, **facts}) as bundle:
        for one in records:
            bundle.append(one, [np.arange(4.0)])
        bundle.seal()
    return directory


def audit(*directories: Path) -> Audit:
    with Fleet(directories) as fleet:
        return Audit.of(fleet)


def said_in_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    main(["json", *map(str, arguments)])
    value = json.loads(capsys.readouterr().out)
    assert isinstance(value, dict)
    return value


def test_a_cell_has_the_worst_of_the_last_run_and_the_case_that_a_search_ended_on(tmp_path: Path) -> None:
    one = run(tmp_path / "1", failed("old"), started="2026-01-01")
    other = run(
        tmp_path / "2", record("x"), failed("large"), failed("small"), started="2026-01-02", replay="--kernels=k.py"
    )
    (cell,) = audit(other, one).cells
    assert (cell.outcome, cell.verdict, cell.share) == ("fail", "wrong", 7.0)
    assert (cell.passed, cell.failed, cell.ran, cell.failing) == (1, 2, 3, {"wrong": 2})
    assert cell.case == "small"
    assert cell.replay.endswith("--case small --implementation gemm/torch/eager --platform cpu --kernels=k.py")
    assert len(audit(one, other).history) == 2


def test_what_broke_since_the_run_before_is_told_from_what_only_changed(tmp_path: Path) -> None:
    before = run(tmp_path / "1", record("1"), record("2"), record("3"), failed("4"), started="2026-01-01")
    after = run(tmp_path / "2", failed("1"), record("2", digest="c"), record("3"), record("4"), started="2026-01-02")
    elsewhere = run(tmp_path / "3", record("1"), host=FAR, started="2026-01-03")
    (row,) = audit(before, after, elsewhere).regressions
    assert (row.place, row.cases, row.broken, row.mended, row.changed) == (f"cpu@{HOME}", 4, 1, 1, 3)
    assert row.case == "1"


def test_a_difference_is_told_with_what_the_two_profiles_say_differently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def profile(platform: str, order: str) -> dict[str, Any]:
        topics = (("order of products", order), ("accumulator of products", "24 bits, nearest even"))
        said = {"machine": "gemm/torch/eager", "subject": "float32", "breaks": "", "evidence": {}}
        answers = [{**said, "topic": topic, "answer": answer} for topic, answer in topics]
        return {f"profile {platform}": {"extent": "brief", "seconds": 1.0, "answers": answers}}

    other = "gemm/torch/tf32"
    home = run(
        tmp_path / "1",
        *(record(case, implementation=name) for case in "12" for name in ("gemm/torch/eager", other)),
        **profile("cpu", "sequential"),
    )
    far = run(
        tmp_path / "2",
        record("1", platform="gpu", digest="b"),
        failed("2", platform="gpu", cause="unexplained"),
        record("1", platform="gpu", digest="c", implementation=other),
        host=FAR,
        **profile("gpu", "16 at a time"),
    )
    said = {row.implementation: (row.flagged, row.computing, row.why) for row in audit(home, far).carried}
    differs = "order of products, float32: sequential -> 16 at a time"
    assert said == {
        "gemm/torch/eager": (True, (differs,), f"unexplained; profiles: {differs}"),
        other: (False, (), ""),
    }
    assert main(["compare", str(home), str(far)]) == 1
    assert f"FLAGGED: unexplained; profiles: {differs}" in capsys.readouterr().out


def test_an_operation_may_move_where_all_that_passed_passes(tmp_path: Path) -> None:
    home = run(tmp_path / "1", record(), record(implementation="gemm/torch/tf32"), record(implementation="gemm/c/c"))
    drift = record(
        platform="gpu", implementation="gemm/torch/tf32", verdict="drift", accounted="declared numerics tf32"
    )
    far = run(tmp_path / "2", record(platform="gpu"), drift, host=FAR)
    found = audit(home, far)
    assert {move.implementation: move.answer for move in found.moves if move.origin == "cpu"} == {
        "gemm/torch/eager": "yes",
        "gemm/torch/tf32": "with drift",
        "gemm/c/c": "unknown",
    }
    assert found.operations["gemm", "cpu", "gpu"] == ("with drift", 2, 3)
    broken = run(tmp_path / "3", failed(platform="gpu"), host=FAR)
    assert audit(home, broken).operations["gemm", "cpu", "gpu"] == ("no", 0, 3)


def test_a_merged_bundle_says_what_its_parts_say(tmp_path: Path) -> None:
    parts = [
        run(tmp_path / "1", record("1"), failed("2", share=float("inf"))),
        run(tmp_path / "2", record("1"), host=FAR),
    ]
    with Fleet(parts) as fleet:
        merged = merge(fleet, tmp_path / "merged")
        ids = [one.id for one in fleet.runs]
    one, other = audit(*parts), audit(merged)
    assert (one.cells, one.carried, one.moves) == (other.cells, other.carried, other.moves)
    assert set(samples(merged, f"{ids[1]}.")) == {key(record("1"))}
    with Fleet([merged, run(tmp_path / "3", record("1"), host="bari")]) as fleet:
        again = merge(fleet, tmp_path / "again")
    assert audit(again).places == [f"cpu@{HOME}", f"cpu@{FAR}", "cpu@bari"]
    assert set(samples(again, f"{ids[1]}.")) == {key(record("1"))}


def test_a_run_that_is_there_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = run(tmp_path / "1", record())
    assert main(["json", str(one), str(one)]) == 2
    assert "which another bundle holds too" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gate", "status"),
    [("", 0), ("wrong,crashed", 1), ("crashed", 0), ("failure", 1), ("drift", 1), ("regression", 0)],
)
def test_a_gate_decides_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gate: str, status: int
) -> None:
    bundles = [str(run(tmp_path / "1", record())), str(run(tmp_path / "2", failed(), host=FAR))]
    for command in ("json", "markdown", "junit"):
        assert main([command, *bundles, "--fail-on", gate]) == status
        assert ("the gate is not met" in capsys.readouterr().err) is bool(status)
    assert main(["merge", *bundles, "--into", str(tmp_path / "merged"), "--fail-on", gate]) == status


def test_what_judged_nothing_meets_no_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = str(run(tmp_path / "1", record(verdict="unsupported", share=None, rms_ulp=None, bias_ulp=None)))
    assert main(["json", nothing, "--fail-on", "wrong"]) == 1
    assert "the gate is not met: nothing was judged" in capsys.readouterr().err
    assert main(["json", nothing]) == 0
    assert main(["json", nothing, str(run(tmp_path / "2", record(), host=FAR)), "--fail-on", "wrong"]) == 0


def test_a_case_that_broke_fails_its_gate(tmp_path: Path) -> None:
    bundles = [str(run(tmp_path / "1", record())), str(run(tmp_path / "2", failed(), started="2026-02-01"))]
    assert main(["json", *bundles, "--fail-on", "regression"]) == 1
    assert main(["json", *reversed(bundles), "--fail-on", "regression"]) == 1


def test_an_unknown_gate_is_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["json", str(run(tmp_path / "1", record())), "--fail-on", "wrnog"]) == 2
    assert "--fail-on wrnog is no gate; there are drift, recompiled" in capsys.readouterr().err


def test_json_says_which_case_fails_why_and_how_to_see_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = run(tmp_path / "1", record("1"), failed("2", cause="unexplained", share=float("inf")))
    value = said_in_json(capsys, bundle, "--fail-on", "wrong")
    assert value["gate"] == {"fail_on": ["wrong"], "met": False, "breaches": ["wrong: 1 record"]}
    (failure,) = value["failures"]
    assert (failure["case"], failure["cause"], failure["share"]) == ("2", "unexplained", "inf")
    assert failure["replay"] == "python -m pytest --case 2 --implementation gemm/torch/eager --platform cpu"


def test_junit_has_a_case_for_each_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unsupported = Record(
        suite="equivalence",
        case="3",
        operation="gemm",
        dtype="float32",
        implementation="gemm/c/c",
        platform="cpu",
        verdict="unsupported",
        message="no compiler <here>",
    )
    bundle = run(tmp_path / "1", failed("1"), record("2", implementation="gemm/b/b"), unsupported)
    assert main(["junit", str(bundle)]) == 0
    (suite,) = xml.fromstring(capsys.readouterr().out)
    assert [suite.get(name) for name in ("name", "tests", "failures", "skipped")] == ["cpu", "3", "1", "1"]
    found = {case.get("name"): [child.tag for child in case] for case in suite}
    assert found == {"gemm/b/b": [], "gemm/c/c": ["skipped"], "gemm/torch/eager": ["failure"]}


def test_markdown_names_what_failed_and_lets_nobody_write_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = run(tmp_path / "1", record(), unrun=[["amd", "no <b>device</b> | here"]])
    far = run(tmp_path / "2", failed(message="a | b <script>"), host=FAR)
    assert main(["markdown", str(home), str(far), "--fail-on", "wrong"]) == 1
    text = capsys.readouterr().out
    assert "The gate is not met** (wrong: 1 record)" in text
    assert "| gemm | 1 passed, worst 0.50 | **1 of 1 failed**: wrong |" in text
    assert f"**WRONG** `gemm/torch/eager` on cpu@{FAR} (1 of 1): a \\| b \\<script\\>" in text
    assert "no \\<b\\>device\\</b\\> \\| here" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"verdict":"within"', '"verdict":"fine"'),
        ('"operation":"gemm"', '"operation":"gemv"'),
        ('"share":0.5', '"share":NaN'),
        ('"share":0.5', '"share":"big"'),
        ('"dtype":"float32",', ""),
    ],
)
def test_a_foreign_record_is_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    directory = tmp_path / "run"
    with Bundle.create(directory, {}) as bundle:
        bundle.append(record())
    path = directory / "records.jsonl"
    path.write_text(path.read_text().replace(old, new))
    assert main(["json", str(directory)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{directory} has" in said


def test_what_a_killed_run_left_is_used_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "run"
    with Bundle.create(directory, {}) as bundle:
        bundle.append(record("1"))
        bundle.append(record("2"))
    path = directory / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    found = audit(directory)
    assert [cell.passed for cell in found.cells] == [1]
    assert [problem.partition(": ")[2][:12] for problem in found.problems] == ["its run did ", "a torn line "]


def heat(device: str, gain: float) -> Heat:
    """A race on a device in which an optimization was ``gain`` times as fast as what it optimizes."""
    base, better = Arm(implementation="gemm/c/plain", status="timed", seconds=(1.0,) * 9), "gemm/c/better"
    rung = Arm(
        implementation=better,
        status="timed",
        optimizes="gemm/c/plain",
        technique="tiles <b>",
        seconds=(1 / gain,) * 9,
    )
    fields: dict[str, Any] = {
        "operation": "gemm",
        "case": "{}",
        "dtype": "float32",
        "platform": "c",
        "size": "small",
        "clock": "wall",
    }
    return Heat(**fields, device=device, caches="flushed", sets=1, moved=1, spins=(1.0,) * 9, arms=(base, rung))


def test_documents_tell_what_carries_over_how_places_compute_and_where_runs_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"machine": "torch", "topic": "tf32", "subject": "float32", "breaks": ""}
    for host, gain, answer in ((HOME, 2.0, "rounded"), (FAR, 0.5, "truncated")):
        facts = {"profile cpu": {"extent": "brief", "answers": [{**said, "answer": answer}]}}
        behind = {"gateway box": {"host": f"{host}-box", "python": "3.10.1", "packages": {"torch": "2.11"}}}
        with Bundle.create(tmp_path / host, {"host": host, "started": "now", **facts, **behind}) as bundle:
            bundle.append(record())
            bundle.append_heat(heat(host, gain))
        bundle.seal()
    assert main(["markdown", str(tmp_path / HOME), str(tmp_path / FAR)]) == 0
    text = capsys.readouterr().out
    assert "- tiles \\<b\\>: REVERSED in gemm" in text
    assert "| torch | tf32 | float32 | rounded | truncated | **same platform** |" in text
    assert f"| {FAR}-box (box) | now | 3.10.1 | 2.11 |  |" in text
    value = said_in_json(capsys, tmp_path / HOME, tmp_path / FAR)
    (way,) = value["carryover"]
    assert (way["technique"], way["class"], way["gains"][HOME]["ratio"]) == ("tiles <b>", "reversed", 2)
    answers = {f"cpu@{HOME}": "rounded", f"cpu@{FAR}": "truncated"}
    assert value["profiles"] == [{"question": ["torch", "tf32", "float32"], "answers": answers, "flagged": True}]
    assert value["runs"][1]["reached"] == [f"{FAR}-box (box)"]


def test_a_folder_of_merged_bundles_is_a_table_that_the_documented_query_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift = record(verdict="drift", accounted="declared", implementation="gemm/torch/tf32")
    parts = [run(tmp_path / "1", failed("1"), record("2")), run(tmp_path / "2", record("1"), drift, host=FAR)]
    for number, part in enumerate(parts):
        with Fleet([part]) as fleet:
            merge(fleet, tmp_path / "store" / str(number))
    page = (ROOT / "docs" / "fleet.md").read_text()
    (query,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    rows = duckdb.sql(query).fetchall()
    assert rows == [("cpu", "gemm/torch/eager", 1, 3, 2), ("cpu", "gemm/torch/tf32", 0, 1, 1)]
    cells = audit(*sorted((tmp_path / "store").iterdir())).cells
    assert sum(cell.failed for cell in cells) == sum(row[2] for row in rows)
