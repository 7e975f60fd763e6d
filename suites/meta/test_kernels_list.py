"""``python -m kernels`` lists every operation and implementation, and says what is absent and why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.__main__ import main
from kernels.registry import load

ROOT = Path(__file__).resolve().parents[2]

WITHOUT_TRITON = """
import runpy, sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "triton":
            raise ModuleNotFoundError("No module named 'triton'", name=name)

sys.meta_path.insert(0, Hidden())
sys.argv[1:] = ["--anywhere", "--all"]
runpy.run_module("kernels", run_name="__main__")
"""


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of each line by the first one; columns are two blanks or more apart."""
    lines = (re.split(r" {2,}", line.strip()) for line in text.splitlines() if line.strip())
    return {first: rest for first, *rest in lines}


def listed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["--anywhere", "--all", *(str(argument) for argument in arguments)]) == 0
    return capsys.readouterr().out


def test_every_operation_is_listed_with_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    text = listed(capsys)
    lines = text.splitlines()
    heads = [line for line in lines if re.match(r"\w+\(", line)]
    assert heads == sorted(operation.signature for operation in load().whole.operations.values())
    assert {"add(x, y)", "gemm(a, b)", "relu(x)", "softmax(x, *, dim)"} <= set(heads)
    assert "  dtypes            float64 float32 float16 bfloat16 int32 int8 int64" in lines
    assert "  integer overflow  wraps around" in lines
    assert "  fully masked  a row of -inf alone is all NaN" in lines


def test_every_implementation_is_listed_with_its_ladder_and_numerics(capsys: pytest.CaptureFixture[str]) -> None:
    cells = rows(listed(capsys))
    assert cells["softmax/triton/three_pass"] == ["-", "-", "ieee", "all"]
    assert cells["softmax/triton/online"] == ["three_pass", "online softmax", "ieee", "all"]
    assert cells["gemm/triton/split_k"] == ["naive", "split-K", "ieee", "all"]
    assert cells["gemm/triton/tf32"] == ["naive", "tf32 operands", "tf32", "float32"]
    assert cells["softmax/torch/eager"] == ["-", "-", "narrow", "all"]
    for operation in ("add", "relu", "softmax", "gemm"):
        assert {f"{operation}/torch/eager", f"{operation}/inductor/compiled"} <= cells.keys()


def test_numerics_that_something_declares_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = listed(capsys)
    assert "numerics tf32: float32 operands of matrix products rounded to 11 significand bits" in text
    assert "numerics ieee" not in text


def test_what_something_needs_is_listed_with_its_meaning(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "needy.py"
    file.write_text(
        "from kernels import implementation\n"
        "for name in ('needy', 'n' * 80):\n"
        "    implementation('relu', paradigm='torch', name=name, needs=('matrix unit',))(lambda x: x)\n"
    )
    text = listed(capsys, "--kernels", file)
    said = " ".join(text[text.index("matrix unit (") :].split())
    assert said.startswith("matrix unit (products of whole tiles, one instruction each) is needed by ")
    assert "relu/torch/needy" in said
    assert f"relu/torch/{'n' * 80}" in said
    assert max(map(len, text.splitlines())) <= 100


def test_without_its_toolchain_a_paradigm_is_absent_and_the_rest_is_listed() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_TRITON],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    cells = rows(ended.stdout)
    assert not [name for name in cells if name.count("/") == 2 and "/triton/" in name]
    assert cells["add/torch/eager"] == ["-", "-", "ieee", "all"]
    absent = " ".join(ended.stdout.partition("absent:\n")[2].split())
    assert "its toolchain does not import: No module named 'triton'" in absent
    for operation in ("add", "relu", "softmax", "gemm"):
        assert f"{operation}/triton" in absent


def test_the_matrix_counts_every_implementation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--anywhere"]) == 0
    text = capsys.readouterr().out
    headings = text.splitlines()[0].split()
    cells = rows(text)
    catalogue = load().whole
    for operation in ("add", "softmax", "gemm"):
        for paradigm, count in zip(headings[1:], cells[operation], strict=True):
            mine = [one for one in catalogue.implementations if one.startswith(f"{operation}/{paradigm}/")]
            assert count in ([str(len(mine))] if mine else ["-", "absent"])
    assert sum(map(int, cells["all"])) == len(catalogue.implementations)
    assert f"{len(catalogue.implementations)} implementations of {len(catalogue.operations)} operations" in text


def test_named_operations_alone_are_shown_and_an_unknown_one_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--anywhere", "softmax"]) == 0
    assert re.findall(r"^\w+\(.*", capsys.readouterr().out, re.MULTILINE) == ["softmax(x, *, dim)"]
    assert main(["--anywhere", "sofmax"]) == 2
    assert "no operation 'sofmax'; there are add, " in capsys.readouterr().err


def test_a_kernel_file_is_listed_too_and_no_line_is_wider_than_100_columns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name, base, technique = "a" * 60, "b" * 40, "a technique that takes a great many words to say " * 3
    (tmp_path / "mine.py").write_text(
        "from kernels import Operation, implementation\n"
        "class Twice(Operation):\n"
        "    name = 'twice'\n"
        f"    policies = {{'a policy of a long name': {technique * 3!r}}}\n"
        "    def reference(self, x, *, times: int = 2): return x * times\n"
        "class Alone(Operation):\n"
        "    name = 'alone'\n"
        "    def reference(self, x): return x\n"
        f"implementation('twice', paradigm='torch', name={base!r})(lambda x, *, times: x)\n"
        f"@implementation('twice', paradigm='torch', name={name!r}, optimizes={base!r}, technique={technique!r},\n"
        "                dtypes=('float64', 'float32', 'bfloat16'))\n"
        "def twice(x, *, times): return x\n"
    )
    text = listed(capsys, "--kernels", tmp_path / "mine.py")
    assert "twice(x, *, times=2)" in text.splitlines()
    assert "alone(x)" in text.splitlines()
    assert "  no implementation" in text.splitlines()
    assert max(map(len, text.splitlines())) <= 100
    assert "twice" not in listed(capsys), "without the option, the file is not listed"


def test_a_faulty_kernel_file_is_one_line_and_exit_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text("1 / 0\n")
    assert main(["--kernels", str(tmp_path / "faulty.py")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"kernels: {tmp_path / 'faulty.py'} does not import: ZeroDivisionError: division by ")
    assert printed.err.count("\n") == 1


def test_the_platforms_that_run_each_paradigm_here_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    cells = rows(text[text.index("runs here") :])
    assert cells["torch"][0].split(", ")[0] == "cpu"
    assert cells["triton"][0].split(", ")[0] == "interpreter"
    assert "cpu" in cells["inductor"][0].split(", ")
