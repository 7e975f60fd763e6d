"""Are wrong collectives noticed, and is a rank that ends or stays away named in time?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kernels.registry import load
from suites.meta.cli import MUTANTS, Finished, run_pytest
from suites.meta.mutants import faults

FILE = MUTANTS / "collectives.py"

NUMBERS: Mapping[str, set[str]] = {
    "all_gather/torch/wrong_end_of_the_ring": {"wrong"},
    "all_reduce/torch/wrong_mean_of_the_others": {"wrong"},
    "all_reduce/torch/wrong_order_on_one_rank": {"inconsistent"},
    "all_reduce/torch/wrong_own_part_missing": {"wrong", "inconsistent"},
    "all_reduce/torch/wrong_rounded_at_every_hop": {"wrong"},
    "broadcast/torch/wrong_without_a_wait": {"wrong", "inconsistent"},
}
"""What each that gives an answer is found to be."""

ENDING = {
    "all_reduce/torch/wrong_a_rank_ends": ("crashed", "rank 1 ended itself with exit code 3"),
    "all_reduce/torch/wrong_a_rank_stays_away": ("hung", "rank 1 did not answer in 2 s"),
}
"""What becomes of a rank that gives none, and in which words it is named."""

CASE = '{"operation":"all_reduce","dtype":"float32","dims":{"ranks":3,"x":[5]},"params":{"op":"sum"},"seed":0}'

TWIN = "all_reduce/torch/right_in_order"


def _run(*asked: str, names: set[str], bundle: Path) -> Finished:
    chosen = ("--kernels", FILE, "--platform", "cpu", "--implementation", ",".join(sorted({TWIN, *names})))
    return run_pytest(*chosen, *asked, bundle=bundle, suite="collectives", timeout=240)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of those that answer, and of their twin, over three ranks."""
    bundle = tmp_path_factory.mktemp("collectives") / "bundle"
    return _run("--ranks", "3", "--hypothesis-profile", "quick", names=set(NUMBERS), bundle=bundle)


def test_each_is_noticed_in_quick_and_their_twin_passes(drawn: Finished) -> None:
    failures = drawn.failures()
    assert set(failures) == set(NUMBERS), drawn.text
    assert {name: one.verdict for name, one in failures.items() if one.verdict not in NUMBERS[name]} == {}
    assert {record.platform for record in drawn.records} == {"cpu:ranks"}


def test_a_rank_with_bits_of_its_own_is_named(drawn: Finished) -> None:
    assert "rank 1 is unlike rank 0" in drawn.failures()["all_reduce/torch/wrong_order_on_one_rank"].message


def test_a_rank_that_ends_or_stays_away_is_named_in_time_and_the_others_go_on(tmp_path: Path) -> None:
    ended = _run("--case", CASE, "--time-limit", "2", names=set(ENDING), bundle=tmp_path / "bundle")
    said = {record.implementation: (record.verdict, record.message) for record in ended.records}
    assert {name: verdict for name, (verdict, _) in said.items()} == {
        TWIN: "exact",
        **{name: verdict for name, (verdict, _) in ENDING.items()},
    }
    for name, (_, words) in ENDING.items():
        assert said[name][1].startswith(words)


def test_every_one_in_the_file_is_tried_here() -> None:
    collectives = load([FILE]).collectives
    assert collectives is not None
    assert set(faults(collectives.implementations)) == {*NUMBERS, *ENDING}
