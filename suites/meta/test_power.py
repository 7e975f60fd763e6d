"""Trials that several runs leave are one table: each piece of work counts once, and a torn line not at all."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from suites.power.__main__ import main
from suites.power.trial import RIGHT, SUITE, Trial

MUTANT = "softmax/torch/wrong_no_maximum"
TWIN = "softmax/torch/eager"


def _line(kind: str, seed: int, *trials: Trial) -> str:
    return json.dumps({"piece": [kind, "softmax", seed], "trials": [asdict(trial) for trial in trials]}) + "\n"


def _trial(kernel: str, seed: int, by: str, noticed: str, after: int) -> Trial:
    return Trial(kernel, "cpu", seed, by, noticed, after, "wrong" if noticed else "")


def _page(capsys: pytest.CaptureFixture[str], out: Path, *files: Path) -> str:
    """Return what is printed of the trials in ``files``, with nothing that is left to try."""
    main(["--out", str(out), "--only", "again", "--trials", *map(str, files)])
    return " ".join(capsys.readouterr().out.split())


def test_each_piece_counts_once_whichever_run_it_is_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = [_line("suite", seed, _trial(MUTANT, seed, SUITE, "quick", 2 + seed)) for seed in range(3)]
    late = _line("suite", 3, _trial(MUTANT, 3, SUITE, "standard", 50))
    again = _line("suite", 0, _trial(MUTANT, 0, SUITE, "", 300))  # the first that is known counts
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text("".join(quick[:2]) + late[: len(late) // 2])  # torn: its process was killed
    other.write_text("".join([again, *quick[1:], late]))
    page = _page(capsys, tmp_path / "out", one, other)
    assert "1 were tried here, 4 times each with other cases. Of 4 trials 75.0 % ended in profile `quick`" in page
    assert "25.0 % in profile `standard`, 0.0 % nowhere" in page
    assert f"| `{MUTANT}` | cpu | overflow | KernelBench#165 | 3/4 | 3.5 | wrong |" in page


def test_what_other_platforms_tried_of_a_piece_is_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    here.write_text(_line("suite", 0, _trial(MUTANT, 0, SUITE, "quick", 2)))
    there.write_text(
        _line("suite", 0, _trial(MUTANT, 0, SUITE, "", 9), replace(_trial(MUTANT, 0, SUITE, "", 9), platform="nvidia"))
    )
    assert "1 were tried here, 1 times each with other cases. Of 2 trials 50.0 %" in _page(
        capsys, tmp_path / "out", here, there
    )


def test_cases_of_correct_kernels_are_added_up_over_runs_and_a_refusal_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"{seed}.jsonl" for seed in range(3)]
    for seed, file in enumerate(files):
        refused = "standard" if seed == 2 else ""
        file.write_text(_line("right", seed, _trial(TWIN, seed, RIGHT, refused, 100 + seed)))
    page = _page(capsys, tmp_path / "out", *files)
    assert (
        f"1 kernels were refused in 303 cases of correct kernels, twins of wrong ones and the catalogue's: {TWIN}"
        in page
    )
    assert "0 kernels were refused in 201 cases" in _page(capsys, tmp_path / "out", *files[:2])


def test_a_kernel_that_is_there_no_more_counts_for_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(_line("suite", 0, _trial("softmax/torch/wrong_once_upon_a_time", 0, SUITE, "quick", 2)))
    assert "0 were tried here" in _page(capsys, tmp_path / "out", file)
