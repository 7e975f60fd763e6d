"""Is every contract that a kernel breaks named, and is no kernel blamed that keeps to all of them?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from reports.bundle import Bundle
from reports.record import outcome
from suites.contracts.lacks import stale_lacks
from suites.meta.cli import MUTANTS, Finished, run_pytest
from suites.run import Run
from suites.subject import Subject

BROKEN = {
    "gemm/torch/wrong_nothing_to_add_up": ("unwritten", "contract edges"),
    "relu/inductor/breaks_compiled_once": ("recompiled", "contract compiled_once"),
    "relu/torch/breaks_fresh": ("wrong", "contract fresh"),
    "relu/torch/breaks_layouts": ("wrong", "contract layouts"),
    "relu/torch/breaks_surroundings": ("out of bounds", "contract surroundings"),
    "relu/torch/wrong_offset_in_32_bits": ("wrong", "contract far"),
    "relu/torch/breaks_target": ("wrong", "contract target"),
    "relu/triton/breaks_honest": ("dishonest", "contract honest"),
    "relu/triton/breaks_tuned": ("unwritten", "contract tuned"),
    "softmax/torch/breaks_refusals": ("dishonest", "contract refusals"),
    "softmax/torch/breaks_rows": ("inconsistent", "contract rows"),
    "sum/torch/breaks_deterministic": ("inconsistent", "contract deterministic"),
    "sum/torch/breaks_deterministic_in_waves": ("inconsistent", "contract deterministic"),
    "sum/torch/breaks_metamorphic": ("inconsistent", "contract metamorphic"),
    "sum/torch/breaks_reworded": ("inconsistent", "contract reworded"),
    "transpose/torch/wrong_rows_beyond_the_grid": ("unwritten", "contract many_rows"),
    "transpose/triton/breaks_honest_silently": ("dishonest", "contract honest"),
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of the contracts over kernels that break them, with correct twins among them."""
    files = ("contracts", "tuned", "large", "movement", "products")
    kernels = [word for name in files for word in ("--kernels", MUTANTS / f"{name}.py")]
    named = ",".join(["*/*/breaks_*,*/*/keeps_*,*/*/declares_*", *(name for name in BROKEN if "wrong" in name)])
    chosen = ("--implementation", named, "--platform", "cpu,interpreter")
    bundle = tmp_path_factory.mktemp("contracts") / "bundle"
    return run_pytest(*kernels, *chosen, bundle=bundle, suite="contracts")


def test_each_is_blamed_for_the_contract_that_it_breaks(checked: Finished) -> None:
    blamed = dict[str, tuple[str, str]]()
    for record in checked.records:
        if outcome(record) == "fail":
            blamed.setdefault(record.implementation, (record.verdict, record.message.partition(";")[0]))
    assert blamed == BROKEN, checked.text


def test_a_declared_spread_is_told_and_not_blamed(checked: Finished) -> None:
    told = [record.message for record in checked.records if record.implementation == "sum/torch/declares_its_spread"]
    assert any("declared not to be deterministic" in message for message in told), told


def test_a_lack_that_is_none_is_told_and_one_that_holds_is_not(tmp_path: Path) -> None:
    kernels = [MUTANTS / "numbers.py"]
    catalogue = load(kernels)
    both = [catalogue.implementations[name] for name in ("gemm/torch/wrong_zeros", "gemm/torch/eager")]
    gemm, platform = catalogue.operations["gemm"], Cpu()
    wrong, right = (Subject(gemm, replace(one, needs=("matrix unit",)), platform) for one in both)
    with Pool(kernels=kernels) as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        assert list(stale_lacks(run, [wrong])) == []
        (sentence,) = stale_lacks(run, [right])
    assert sentence.startswith(
        "cpu has no matrix unit, it says; gemm/torch/eager, which needs that, is right there in {"
    )
