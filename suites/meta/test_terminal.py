"""The end of a run says what is so: in the table, in the replay commands, in the teeth, and within the width."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reports
from reports.__main__ import main
from reports.bundle import Bundle
from reports.record import Record
from reports.terminal import summary

CASE = '{"operation":"softmax","dtype":"float32","dims":{"x":[3,17]},"seed":0}'
ONLINE = "softmax/triton/online"
EAGER = "softmax/torch/eager"


def record(implementation: str = ONLINE, platform: str = "venice", verdict: str = "within", **fields: Any) -> Record:
    return Record(
        suite="equivalence",
        case=fields.pop("case", CASE),
        operation=implementation.split("/")[0],
        dtype="float32",
        implementation=implementation,
        platform=platform,
        verdict=verdict,
        **fields,
    )


def a_run() -> list[Record]:
    """A run that has something of everything."""
    shrunk = CASE.replace("[3,17]", "[1,2]").replace("float32", "it's")
    return [
        *(record(EAGER, "cpu", "exact", share=0.0, refused=("zeros", "last dropped")) for _ in range(59)),
        record(EAGER, "cpu", "within", share=0.43, refused=("zeros",), accepted=("last dropped",)),
        *(record(EAGER, "venice", "within", share=share) for share in (0.2, 0.9, 0.1)),
        record(EAGER, "venice", "vacuous", accepted=("zeros",)),
        *(record(ONLINE, "venice", "within", share=0.5) for _ in range(12)),
        record(ONLINE, "venice", "wrong", share=9.0, max_ulp=99.0, message="large"),
        record(ONLINE, "venice", "wrong", share=7.5, max_ulp=math.inf, message="\n  row 0:\tNaN\nmore", case=shrunk),
        record(ONLINE, "venice", "drift", share=3.0),
        record(EAGER, "bari", "unsupported", message="no device"),
        record(EAGER, "bari", "unsupported", message="no device"),
        record("gemm/triton/tiled", "venice", "drift", share=120.5, accounted="declared numerics: tf32"),
        record("gemm/triton/tiled", "venice", "drift", share=927.0, accounted="declared numerics: tf32"),
        record("gemm/triton/tiled", "venice", "within", share=0.7),
    ]


def words(line: str) -> list[str]:
    """The cells of a line of the table: columns are two blanks or more apart."""
    return re.split(r"\s{2,}", line.rstrip())


def test_the_whole_summary() -> None:
    text = summary(a_run(), width=100, colour=False, unrun=[("genoa", "no device"), ("malta", "wants a license")])
    replay = (
        """python -m pytest --case '{"operation":"softmax","dtype":"it'"'"'s","dims":{"x":[1,2]},"seed":0}'"""
        " --implementation softmax/triton/online --platform venice"
    )
    table, failures, drifts, unrun, end = (part.splitlines() for part in text.split("\n\n"))
    assert words(table[0]) == ["implementation", "bari", "cpu", "venice"]
    assert [words(line) for line in table[2:5]] == [
        ["gemm/triton/tiled", "-", "-", "drift 927 (3)"],
        ["softmax/torch/eager", "unsupported (2)", "within 0.43 (60)", "within 0.90 (3 of 4)"],
        ["softmax/triton/online", "-", "-", "WRONG (3 of 15)"],
    ]
    assert table[5:] == ["error / bound, (passed of run); in capitals: (failed of run)"]
    assert failures == [
        "WRONG softmax/triton/online on venice: error 7.50 of the bound, inf ULP: row 0: NaN",
        f"  {replay}",
    ]
    assert drifts == [
        "drift, accounted for:",
        "  gemm/triton/tiled on venice (2): declared numerics: tf32, at most 927 of the bound",
    ]
    assert unrun == [
        "not run:",
        "  softmax/torch/eager on bari, genoa: no device (3 times)",
        "  malta: wants a license",
    ]
    assert end == [
        "teeth: zeros 98 %, last dropped 98 %; 1 of 84 records vacuous",
        "totals: 59 exact, 17 within, 2 drift accounted for, 1 DRIFT, 1 vacuous, 2 unsupported, 2 WRONG",
        f"replay the first failure with: {replay}",
    ]


def test_the_replay_command_is_what_a_shell_takes_for_the_case() -> None:
    case = CASE.replace("softmax", 'it\'s \\"$HOME\\" `x` !')
    line = summary([record(verdict="hung", case=case)], width=80, colour=False).splitlines()[-1]
    command = line.removeprefix("replay the first failure with: ")
    assert shlex.split(command) == [
        *("python", "-m", "pytest", "--case", case),
        *("--implementation", ONLINE, "--platform", "venice"),
    ]


def test_colour_only_where_it_is_wanted() -> None:
    message = "\x1b[31mred\x1b[0m \x1b]0;title\x07caf\u00e9 \x07 \u202e"
    run = [*a_run(), record(platform="x", verdict="crashed", message=message)]
    assert "\x1b[31;1mWRONG (3 of 15)\x1b[0m" in summary(run, width=100, colour=True)
    text = summary(run, width=100, colour=False)
    assert all(line.isascii() and line.isprintable() for line in text.splitlines())
    assert "CRASHED softmax/triton/online on x: red caf\\xe9 \\x07 \\u202e" in text.splitlines()
    assert re.sub(r"\x1b\[[\d;]*m", "", summary(run, width=100, colour=True)) == text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_but_a_replay_command_passes_the_width(width: int) -> None:
    names = ["gemm/triton/tiled", f"attention/{'very_' * 20}long/{'x' * 150}", ONLINE]
    platforms = ["cpu", "interpreter", "venice", "bari", f"ssh=box//python=/opt/{'y' * 90}", "genoa", "malta"]
    run = [
        record(name, platform, verdict, share=share, message="m " * 200)
        for name in names
        for platform in platforms
        for verdict, share in [("within", 0.5), ("input changed", 12345.678)]
    ]
    unrun = [(f"thing {number}", "r " * 100) for number in range(30)]
    lines = summary(run, width=width, colour=False, unrun=unrun).splitlines()
    assert [line for line in lines if len(line) > width and "pytest --case" not in line] == []
    assert sum(line.count("INPUT CHANGED (1 of 2)") for line in lines) == len(names) * len(platforms)


def test_tables_use_the_width_and_never_pass_it() -> None:
    for name in ("a/b/c", ONLINE):
        run = [record(name, f"p{number}" + "x" * (number % 3 * 7), share=0.5) for number in range(12)]
        longest = [
            max(len(line.rstrip()) for line in summary(run, width=width, colour=False).splitlines())
            for width in range(70, 200)
        ]
        assert all(one <= width for one, width in zip(longest, range(70, 200), strict=True))
        assert all(one > width - 40 for one, width in zip(longest, range(70, 200), strict=True))


def test_platforms_that_do_not_fit_side_by_side_go_to_further_tables() -> None:
    platforms = [f"platform{number}" for number in range(7)]
    text = summary([record(platform=one, share=0.5) for one in platforms], width=80, colour=False)
    headings = [words(line) for line in text.splitlines() if line.startswith("implementation")]
    assert [heading[0] for heading in headings] == ["implementation"] * 3
    assert [one for heading in headings for one in heading[1:]] == platforms
    assert text.count("softmax/triton/online") == 3
    assert text.count("within 0.50 (1)") == 7


def test_long_names_are_whole_in_the_table() -> None:
    name = f"attention/{'p' * 50}/{'n' * 70}"
    lines = summary([record(name, share=0.5)], width=60, colour=False).splitlines()
    rows = lines[2 : next(index for index, line in enumerate(lines) if line.startswith("error"))]
    assert "".join(words(line)[0] for line in rows) == name


def test_beyond_a_screenful_failures_are_counted() -> None:
    run = [record(f"gemm/triton/k{number:02}", "cpu" if number < 10 else "bari", "wrong") for number in range(30)]
    run += [record("gemm/triton/stuck", "venice", "hung")]
    text = summary(run, width=100, colour=False, where="show it")
    what = [line for line in text.splitlines() if line.startswith(("WRONG", "HUNG"))]
    assert what == ["HUNG gemm/triton/stuck on venice", *(f"WRONG gemm/triton/k{n:02} on cpu" for n in range(7))]
    assert "and 23 more failures: 20 on bari, 3 on cpu; all of them: show it" in text.splitlines()
    full = summary(run, width=100, colour=False, full=True)
    assert sum(line.startswith(("WRONG", "HUNG")) for line in full.splitlines()) == 31
    assert "more failure" not in full


def test_the_table_leaves_out_what_failed_nowhere_first() -> None:
    run = [record(f"gemm/triton/k{number:03}", share=0.5) for number in range(100)]
    run.append(record("gemm/triton/k077", "bari", "wrong"))
    text = summary(run, width=100, colour=False)
    shown = [words(line)[0] for line in text.splitlines() if line.startswith("gemm/")]
    assert shown == [f"gemm/triton/k{number:03}" for number in (*range(39), 77)]
    assert "and 60 more implementations" in text.splitlines()
    assert "and 60 more" not in summary(run, width=100, colour=False, full=True)


def test_an_unexplained_drift_is_not_hidden_behind_a_vacuous_case() -> None:
    run = [record(verdict="drift", share=2.0), record(verdict="vacuous"), record(share=0.5)]
    text = summary(run, width=80, colour=False)
    assert "DRIFT (1 of 3)" in text
    assert "DRIFT softmax/triton/online on venice: error 2.00 of the bound" in text.splitlines()


def test_of_two_verdicts_the_worst_is_shown_and_of_two_cases_the_last() -> None:
    cases = {name: CASE.replace('"seed":0', f'"seed":{name}') for name in (1, 2, 3)}
    run = [
        record(verdict="crashed", case=cases[1]),
        record(verdict="crashed", case=cases[2]),
        record(verdict="wrong", case=cases[3]),
    ]
    lines = summary(run, width=80, colour=False).splitlines()
    assert "CRASHED (3 of 3)" in lines[2]
    assert lines[-1].startswith(f"replay the first failure with: python -m pytest --case '{cases[2]}' ")


def test_a_corruption_reaches_all_of_the_cases_only_if_it_was_always_refused() -> None:
    run = [record(refused=("zeros", "permuted")) for _ in range(999)]
    text = summary([*run, record(refused=("zeros",), accepted=("permuted",))], width=80, colour=False)
    assert "teeth: zeros 100 %, permuted 99 %; 0 of 1000 records vacuous" in text.splitlines()


@pytest.mark.parametrize(
    ("run", "last"),
    [
        ([], "nothing was run, so nothing is known"),
        (
            [record(verdict="vacuous")],
            "no output was judged, so nothing is known: every case was vacuous or unsupported",
        ),
        ([record()], "1 implementation agrees with golden"),
        ([record(), record(EAGER)], "all 2 implementations agree with golden"),
        (
            [record(), record(EAGER, verdict="vacuous")],
            "1 implementation agrees with golden; 1 more could not be judged",
        ),
    ],
)
def test_nothing_is_claimed_that_no_record_speaks_for(run: list[Record], last: str) -> None:
    assert summary(run, width=100, colour=False).splitlines()[-1] == last


def test_records_are_read_once_as_a_stream() -> None:
    text = summary((record(share=number / 1000) for number in range(1000)), width=80, colour=False)
    assert "within 1.00 (1000)" in text


def test_show_prints_the_summary_of_a_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Bundle.create(tmp_path, {"unrun": [["genoa", "no device"]]}) as bundle:
        for one in a_run():
            bundle.append(one)
    assert main(["show", str(tmp_path), "--width", "100"]) == 1
    assert capsys.readouterr().out == (summary(a_run(), width=100, colour=False, unrun=[("genoa", "no device")]) + "\n")


def test_show_tells_of_a_torn_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Bundle.create(tmp_path, {}) as bundle:
        bundle.append(record())
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"suite"')
    assert main(["show", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith("1 implementation agrees with golden\n")
    assert captured.err.startswith(f"reports: {tmp_path / 'records.jsonl'}:2: a torn line was dropped")


@pytest.mark.parametrize("unrun", [{"a": "b"}, [["a"]], [["a", 1]]])
def test_show_refuses_a_bundle_that_is_not_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], unrun: object
) -> None:
    Bundle.create(tmp_path, {"unrun": unrun}).close()
    assert main(["show", str(tmp_path)]) == 2
    assert '"unrun" must be a list of pairs [thing, reason]' in capsys.readouterr().err


def test_the_command_line_says_what_is_wrong(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reports", "show", str(tmp_path / "nowhere")],
        cwd=Path(reports.__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"reports: {tmp_path / 'nowhere'} is not there; a bundle is a folder\n"
