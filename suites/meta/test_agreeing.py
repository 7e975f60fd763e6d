"""Are equal outputs one group, differences within bounds reported, and those beyond them a failure?"""

from __future__ import annotations

from pathlib import Path

from golden.case import Case, TensorSpec
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from reports.bundle import Bundle, read
from suites.agreement import UNTRIED, agreements
from suites.meta.cli import MUTANTS, run_pytest
from suites.run import Run
from suites.subject import Subject


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


def test_no_effort_is_none(tmp_path: Path) -> None:
    chosen = ("--kernels", MUTANTS, "--platform", "cpu", "--hypothesis-profile", "smoke", "--effort", "0")
    names = "gemm/torch/eager,gemm/torch/wrong_tf32_undeclared"
    run_pytest(*chosen, "--implementation", names, bundle=tmp_path / "bundle", suite="agreement")
    found = {one["dtype"]: one for one in read(tmp_path / "bundle").environment["agreement gemm"]}
    (pair,) = found["float32"]["pairs"]
    assert pair["cause"].endswith(UNTRIED)


def test_causes_are_looked_for_until_the_work_that_is_granted_is_done(tmp_path: Path) -> None:
    kernels = [MUTANTS / "numbers.py"]
    catalogue = load(kernels)
    names = ("gemm/torch/eager", "gemm/torch/wrong_tf32_undeclared")
    gemm = catalogue.operations["gemm"]
    subjects = [Subject(gemm, catalogue.implementations[name], Cpu()) for name in names]
    plain = {name: TensorSpec() for name in "ab"}
    case = Case("gemm", "float32", {"m": 16, "n": 16, "k": 64}, tensors=plain)
    with Pool(kernels=kernels) as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        said = {}
        for granted in (0, 1, 10**6):  # what is begun is done to its end
            (found,) = agreements(run, subjects, cases=[case], recomputed=granted)
            (pair,) = found.pairs
            said[granted] = pair.cause
    assert said[0].endswith(UNTRIED)
    assert "->" not in said[0]
    assert "cut to tf32" not in said[1]  # the first of the two has taken it all
    assert f"{names[1]}@cpu: operands of matrix products cut to tf32" in said[10**6]
    assert UNTRIED not in said[10**6]
