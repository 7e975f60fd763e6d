"""Does a tiny kernel show what TileLang can do on a device, and are wrong kernels in it caught?"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from golden.dtypes import DTYPES
from platforms.tilelang_trial import lacking_in_tilelang
from suites.meta.cli import MUTANTS, run_pytest

installed = pytest.mark.skipif(
    importlib.util.find_spec("tilelang") is None,
    reason="TileLang is not installed: python -m pip install -r requirements-tilelang.txt",
)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return what puts another kernel in the place of the trial's, whether TileLang is installed or not."""

    def give(doubled: object) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        monkeypatch.setitem(sys.modules, "platforms.tilelang_trial_kernel", SimpleNamespace(doubled=doubled))

    return give


def test_where_it_is_not_installed_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert lacking_in_tilelang("cpu") == {}


def test_a_compiler_that_fails_is_the_reason_once(given: Callable[[object], None]) -> None:
    def without_compiler(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("nvcc: not found\nand much more")

    given(without_compiler)
    assert lacking_in_tilelang("cpu", ("float32",)) == {"tilelang": "RuntimeError: nvcc: not found"}
    assert lacking_in_tilelang("cpu") == {"tilelang": "RuntimeError: nvcc: not found"}


def test_a_wrong_sum_is_the_reason_for_its_dtype(given: Callable[[object], None]) -> None:
    given(lambda x: x + x + (x.dtype == torch.float16))
    assert lacking_in_tilelang("cpu", ("float32", "float16")) == {
        "tilelang/float16": "1, 2, 3 added to themselves give [3.0, 5.0, 7.0]"
    }


@installed
def test_on_the_cpu_it_computes_in_what_c_has() -> None:
    lacking = lacking_in_tilelang("cpu")
    able = {name for name in DTYPES if f"tilelang/{name}" not in lacking}
    assert {"float64", "float32", "float16", "int64", "int32", "int8"} <= able
    assert "bfloat16" in lacking["tilelang/bfloat16"]


@installed
def test_right_kernels_pass_and_wrong_ones_are_caught(tmp_path: Path) -> None:
    case = '{"operation":"relu","dtype":"float32","dims":{"x":[3,67]},"tensors":{"x":{"regime":"nan"}},"seed":5}'
    chosen = ("--implementation", "relu/tilelang/*", "--platform", "cpu")
    ended = run_pytest("--kernels", MUTANTS / "tilelang_kernels.py", "--case", case, *chosen, bundle=tmp_path / "b")
    assert {record.implementation: record.verdict for record in ended.records} == {
        "relu/tilelang/flat": "exact",
        "relu/tilelang/vectorized": "exact",
        "relu/tilelang/wrong_input_overwritten": "input changed",
        "relu/tilelang/wrong_last_unwritten": "unwritten",
        "relu/tilelang/wrong_nan_dropped": "wrong",
    }
