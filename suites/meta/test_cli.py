"""Does wrong use get one clear error, and does a run in which nothing was executed fail?"""

from __future__ import annotations

from pathlib import Path

import pytest

from suites.meta.cli import run_pytest

CASE = '{"operation":"relu","dtype":"float32","dims":{"x":[3]},"seed":0}'


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--case", "{"], "a case is one line of JSON"),
        (["--case", CASE.replace("relu", "rely")], "unknown operation 'rely' in the case; there are add, all_gather"),
        (["--platform", "venus"], "--platform venus matches no platform; there are cpu"),
        (["--kernels", "nowhere.py"], "no kernel file or folder"),
    ],
)
def test_wrong_use_is_one_clear_error(arguments: list[str], says: str, tmp_path: Path) -> None:
    ended = run_pytest(*arguments, bundle=tmp_path / "bundle")
    assert ended.status == 4, ended.text
    assert says in ended.text
    assert ended.text.count("ERROR") == 1
    assert "Traceback" not in ended.text


def test_a_bundle_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    ended = run_pytest("--case", CASE, "--platform", "cpu", "--paradigm", "torch", bundle=occupied)
    assert ended.status == 4, ended.text
    assert str(occupied) in ended.text
    assert "Traceback" not in ended.text


def test_somebodys_own_operation_and_implementation_are_as_good_as_ours(tmp_path: Path) -> None:
    """Operation, contract and kernel come from one file outside; the wrong one is caught."""
    file = tmp_path / "halve.py"
    file.write_text(
        '"""x / 2."""\n'
        "from golden.precision import Precision\n"
        "from kernels import Operation, implementation, strategies\n"
        "class Halve(Operation):\n"
        "    name = 'halve'\n"
        "    dtypes = ('float32', 'float16')\n"
        "    def shapes(self, case): return {'x': self.shape(case, 'x')}\n"
        "    def output_shape(self, case): return self.shape(case, 'x')\n"
        "    def dims(self, budget): return strategies.shapes(budget).map(lambda shape: ({'x': shape}, {}))\n"
        "    def precision(self, dtype): return Precision(compute='exact')\n"
        "    def reference(self, x): return x / 2.0\n"
        "@implementation('halve', paradigm='torch')\n"
        "def good(x): return x / 2\n"
        "@implementation('halve', paradigm='torch')\n"
        "def bad(x): return x // 2\n"
    )
    ended = run_pytest("--kernels", file, "--operation", "halve", "--platform", "cpu", bundle=tmp_path / "bundle")
    assert ended.status == 1, ended.text
    assert set(ended.failures()) == {"halve/torch/bad"}
    assert {record.verdict for record in ended.records if record.implementation == "halve/torch/good"} <= {
        "exact",
        "within",
    }


def test_a_run_in_which_what_was_asked_for_executed_nothing_fails(tmp_path: Path) -> None:
    """The implementation is there, but not written for the dtype of the case."""
    case = '{"operation":"gemm","dtype":"float16","dims":{"m":1,"n":1,"k":1},"seed":0}'
    chosen = ("--implementation", "gemm/torch/tf32", "--platform", "cpu")
    ended = run_pytest("--case", case, *chosen, bundle=tmp_path / "bundle")
    assert ended.status == 1
    assert "nothing was executed" in ended.text
    assert [record.verdict for record in ended.records] == ["unsupported"]


def test_parallel_workers_write_one_bundle(tmp_path: Path) -> None:
    chosen = ("--paradigm", "torch", "--platform", "cpu", "--operation", "add,relu,softmax")
    alone = run_pytest(*chosen, bundle=tmp_path / "alone")
    together = run_pytest("-n", "2", *chosen, bundle=tmp_path / "together")
    assert (alone.status, together.status) == (0, 0), together.text
    assert "all 3 implementations agree with golden" in together.text

    def seen(finished: object) -> list[tuple[str, str, str]]:
        return sorted((one.implementation, one.case, one.digest) for one in finished.records)  # type: ignore[attr-defined]

    assert seen(alone) == seen(together)
    assert len(alone.records) == 42 + 42 + 24


def test_a_kernel_can_be_run_inside_pytest(tmp_path: Path) -> None:
    chosen = ("--implementation", "relu/torch/eager", "--platform", "cpu", "--in-process")
    ended = run_pytest("--case", CASE, *chosen, bundle=tmp_path / "bundle")
    assert (ended.status, [one.verdict for one in ended.records]) == (0, ["exact"]), ended.text
