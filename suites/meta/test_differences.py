"""Are groups of several bundles put together by what is equal, and differences given the figures that were found?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports.bundle import Bundle
from reports.differences import differences
from reports.record import Record
from suites.tables.differences import explained_differences
from suites.tables.markdown import Page

EAGER, FLAT, FAST = "exp/torch/eager@cpu", "exp/triton/flat@gpu", "exp/triton/fast@gpu"


def _record(subject: str, digest: str, **figures: Any) -> Record:
    implementation, platform = subject.split("@")
    known: dict[str, Any] = {"suite": "agreement", "case": "{}", "operation": "exp", "dtype": "float32"}
    whose = {"implementation": implementation, "platform": platform, "verdict": "within", "elements": 4}
    return Record(**{**known, **whose, "digest": digest, "input_digest": "same", **figures})


def _environment(*groups: list[str], pairs: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"agreement exp": [{"dtype": "float32", "cases": 1, "groups": list(groups), "pairs": list(pairs)}]}


def test_equal_digests_of_two_machines_are_one_group() -> None:
    pair = {"one": FLAT, "other": FAST, "share": 0.5, "open": 0, "differing": 3, "cause": "a fast exp"}
    here = (_environment([EAGER]), [_record(EAGER, "a", share=0.25)])
    there = (_environment([FLAT], [FAST], pairs=(pair,)), [_record(FLAT, "a", share=0.5), _record(FAST, "b")])
    (found,) = differences([here, there])
    assert [group.subjects for group in found.groups] == [(EAGER, FLAT), (FAST,)]
    assert [(group.share, group.apart, group.causes) for group in found.groups] == [
        (0.5, None, ()),
        (None, 0.5, ("a fast exp",)),
    ]


def test_other_digests_and_other_inputs_are_not_equal() -> None:
    here = (_environment([EAGER]), [_record(EAGER, "a")])
    for other in (_record(FLAT, "b"), _record(FLAT, "a", input_digest="other")):
        (found,) = differences([here, (_environment([FLAT]), [other])])
        assert len(found.groups) == 2


def test_the_groups_of_one_run_count_more_than_digests() -> None:
    """Which tell one NaN from another."""
    records = [_record(EAGER, "a"), _record(FLAT, "b")]
    (found,) = differences([(_environment([EAGER, FLAT]), records)])
    assert [group.subjects for group in found.groups] == [(EAGER, FLAT)]


def test_a_group_that_no_run_held_against_the_first_is_told_beside_what_it_was() -> None:
    pair = {"one": FLAT, "other": FAST, "share": 0.5, "open": 0, "differing": 3, "cause": "a fast exp"}
    here = (_environment([EAGER, "exp/torch/other@cpu"]), [_record(EAGER, "a")])
    there = (_environment([FLAT], [FAST], pairs=(pair,)), [_record(FLAT, "b"), _record(FAST, "c")])
    (found,) = differences([here, there])
    assert {group.subjects[0]: (group.apart, group.causes) for group in found.groups[1:]} == {
        FLAT: (None, ("beside triton/fast@gpu: a fast exp",)),
        FAST: (None, ("beside triton/flat@gpu: a fast exp",)),
    }


def test_the_page_counts_what_is_unexplained_and_names_what_a_platform_has_not_run(tmp_path: Path) -> None:
    pair = {"one": EAGER, "other": FAST, "share": 0.5, "open": 0, "differing": 3, "cause": "unexplained"}
    alone = {"agreement sum": [{"dtype": "float32", "cases": 1, "groups": [["sum/torch/eager@cpu"]], "pairs": []}]}
    with Bundle.create(tmp_path / "bundle", {**_environment([EAGER], [FAST], pairs=(pair,)), **alone}) as bundle:
        for record in (_record(EAGER, "a"), _record(FAST, "b")):
            bundle.append(record)
    text = explained_differences([tmp_path / "bundle"])
    assert "Not run on gpu: sum." in text
    assert "Not run on gpu in triton" not in text
    assert "Not run on cpu" not in text
    assert "Of 1 other groups 0 have a cause that was tried and explains them, 1 are unexplained" in text


def test_rows_of_other_operations_stay_and_are_counted(tmp_path: Path) -> None:
    pair = {"one": EAGER, "other": FAST, "share": 0.5, "open": 0, "differing": 3, "cause": "unexplained"}
    machine = {"platform cpu": {"facts": {"name": "AVX2", "torch": "2.13.0"}}}
    groups = [["sum/torch/eager@cpu"], ["sum/inductor/compiled@cpu"]]
    cause = "sums in float16 (2.5 of the bound -> 0.5)"
    other = {**pair, "one": groups[0][0], "other": groups[1][0], "cause": cause}
    old = {"agreement sum": [{"dtype": "float32", "cases": 1, "groups": groups, "pairs": [other]}]}
    with Bundle.create(tmp_path / "old", {**machine, **old, **_environment([EAGER, FAST])}) as bundle:
        bundle.append(_record(EAGER, "a"))
    before = explained_differences([tmp_path / "old"])
    with Bundle.create(tmp_path / "new", _environment([EAGER], [FAST], pairs=(pair,))) as bundle:
        bundle.append(_record(EAGER, "a"))
    after = explained_differences([tmp_path / "new"], Page(before, {"sum"}))
    assert "Machines: cpu (AVX2, torch 2.13.0). Not run on gpu: sum. Not run on cpu in inductor: exp." in after
    assert "2 operations; of 2 sets of dtypes that are alike 0 are one group. Of 2 other groups 1 have a cause" in after
    assert "1 are unexplained, and 0 were" in after
    rows = [next(line for line in text.splitlines() if cause in line).split() for text in (before, after)]
    assert rows[0] == rows[1]
