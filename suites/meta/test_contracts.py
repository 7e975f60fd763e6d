"""Is every contract that a kernel breaks named, and is no kernel blamed that keeps to all of them?"""

from __future__ import annotations

import pytest

from suites.meta.cli import MUTANTS, Finished, run_pytest

BROKEN = {
    "relu/torch/breaks_fresh": ("wrong", "contract fresh"),
    "relu/torch/breaks_layouts": ("wrong", "contract layouts"),
    "relu/torch/breaks_surroundings": ("out of bounds", "contract surroundings"),
    "sum/torch/breaks_deterministic": ("inconsistent", "contract deterministic"),
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of the contracts over kernels that break them, with correct twins among them."""
    chosen = ("--implementation", "*/torch/breaks_*,*/torch/declares_*", "--platform", "cpu")
    bundle = tmp_path_factory.mktemp("contracts") / "bundle"
    return run_pytest("--kernels", MUTANTS / "contracts.py", *chosen, bundle=bundle, suite="contracts")


def test_each_is_blamed_for_the_contract_that_it_breaks(checked: Finished) -> None:
    blamed = {name: (record.verdict, record.message.partition(";")[0]) for name, record in checked.failures().items()}
    assert blamed == BROKEN, checked.text


def test_a_declared_spread_is_told_and_not_blamed(checked: Finished) -> None:
    told = [record.message for record in checked.records if record.implementation == "sum/torch/declares_its_spread"]
    assert any("declared not to be deterministic" in message for message in told), told
