"""Are equal outputs one group, differences within bounds reported, and those beyond them a failure?"""

from __future__ import annotations

from pathlib import Path

from reports.bundle import read
from suites.meta.cli import MUTANTS, run_pytest


def test_a_wrong_kernel_is_apart_and_says_why(tmp_path: Path) -> None:
    chosen = ("--kernels", MUTANTS, "--platform", "cpu", "--hypothesis-profile", "smoke")
    names = "gemm/torch/eager,gemm/torch/tf32,gemm/torch/wrong_tf32_undeclared"
    ended = run_pytest(*chosen, "--implementation", names, bundle=tmp_path / "bundle", suite="agreement")
    assert ended.status == 1
    assert "APART: gemm/torch/eager@cpu and gemm/torch/wrong_tf32_undeclared@cpu" in ended.text
    found = {one["dtype"]: one for one in read(tmp_path / "bundle").environment["agreement gemm"]}
    # On the CPU PyTorch has no tf32, and the mutant cuts float32 alone.
    assert found["float32"]["groups"][0] == ["gemm/torch/eager@cpu", "gemm/torch/tf32@cpu"]
    assert [len(found[dtype]["groups"]) for dtype in ("float32", "float64", "float16")] == [2, 1, 1]
    (pair,) = found["float32"]["pairs"]
    assert pair["share"] > 1
    assert pair["case"].startswith('{"operation":"gemm","dtype":"float32"')
