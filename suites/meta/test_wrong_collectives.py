"""Are wrong collectives noticed, and is a rank that ends or stays away named in time?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from golden.case import Case
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from platforms.ranks.platform import Ranks, ranks_of
from reports.bundle import read
from reports.record import Record, outcome
from suites.contracts.contract import PLAIN
from suites.contracts.ranks import OF_RANKS
from suites.meta.cli import MUTANTS, Finished, run_pytest
from suites.meta.mutants import faults

FILE = MUTANTS / "collectives.py"

DEVICE = FILE.parents[1] / "played_device.py"

NUMBERS: Mapping[str, set[str]] = {
    "all_gather/torch/wrong_end_of_the_ring": {"wrong"},
    "all_gather/torch/wrong_strided_message": {"crashed"},
    "all_reduce/torch/wrong_integers_as_floats": {"wrong"},
    "all_reduce/torch/wrong_mean_of_the_others": {"wrong"},
    "all_reduce/torch/wrong_order_on_one_rank": {"inconsistent"},
    "all_reduce/torch/wrong_own_part_missing": {"wrong", "inconsistent"},
    "all_reduce/torch/wrong_rounded_at_every_hop": {"wrong"},
    "all_to_all/torch/wrong_places_of_uneven_splits": {"wrong"},
    "broadcast/torch/wrong_without_a_wait": {"wrong", "inconsistent"},
}
"""What each that gives an answer is found to be."""

CONTRACTS = {
    "all_reduce/torch/wrong_promise_of_halves": "contract messages",
    "all_reduce/torch/wrong_stale_buffer": "contract fresh",
}
"""Which contract is broken by each whose single answers are right."""

IDLE = "all_to_all/torch/wrong_idle_rank_stays_away"

ENDING = {
    IDLE: ("hung", "rank 1 returned without a message that rank 0, rank 2 waited in for 2 s"),
    "all_reduce/torch/wrong_a_rank_ends": ("crashed", "rank 1 ended itself with exit code 3"),
    "all_reduce/torch/wrong_a_rank_stays_away": ("hung", "rank 1 did not answer in 2 s"),
}
"""What becomes of a rank that gives none, and in which words it is named."""

IDLE_CASE = Case(
    "all_to_all", "float32", {"ranks": 3, "width": 2}, params={"splits": [1, 2, 1, 0, 0, 0, 1, 1, 1]}, seed=0
)

LONGER = '{"operation":"all_reduce","dtype":"float32","dims":{"ranks":3,"x":[64]},"params":{"op":"sum"},"seed":0}'

ONE_CALL = ("-k", "not test_contracts")

CASE = Case("all_reduce", "float32", {"ranks": 3, "x": [5]}, params={"op": "sum"}, seed=0)

TWIN = "all_reduce/torch/right_in_order"


def _run(*asked: str, names: set[str], bundle: Path) -> Finished:
    chosen = ("--kernels", FILE, "--platform", "cpu", "--implementation", ",".join(sorted({TWIN, *names})))
    return run_pytest(*chosen, *asked, bundle=bundle, suite="collectives", timeout=240)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of those that answer, and of their twin, over three ranks."""
    bundle = tmp_path_factory.mktemp("collectives") / "bundle"
    return _run("--ranks", "3", "--hypothesis-profile", "quick", *ONE_CALL, names=set(NUMBERS), bundle=bundle)


def test_each_is_noticed_in_quick_and_their_twin_passes(drawn: Finished) -> None:
    failures = drawn.failures()
    assert set(failures) == set(NUMBERS), drawn.text
    assert {name: one.verdict for name, one in failures.items() if one.verdict not in NUMBERS[name]} == {}
    assert {record.platform for record in drawn.records} == {"cpu:ranks"}


def test_a_rank_with_bits_of_its_own_is_named(drawn: Finished) -> None:
    assert "rank 1 is unlike rank 0" in drawn.failures()["all_reduce/torch/wrong_order_on_one_rank"].message


def test_a_rank_that_ends_or_stays_away_is_named_in_time_and_the_others_go_on() -> None:
    ranks = ranks_of(Cpu(), 3)
    assert isinstance(ranks, Ranks)
    with Pool(kernels=[FILE], time_limit=2) as pool:
        for name, (status, words) in ENDING.items():
            lost = pool.run(ranks, name, IDLE_CASE if name == IDLE else CASE)
            assert (lost.status, lost.message.startswith(words)) == (status, True), lost.message
            assert pool.run(ranks, TWIN, CASE).status == "returned"


def test_contracts_are_kept_on_ranks_that_have_streams_and_graphs_as_devices_do(tmp_path: Path) -> None:
    device = ("--platforms", DEVICE, "--platform", "played", "--case", LONGER)
    asked = ("--kernels", FILE, "--implementation", ",".join(sorted({TWIN, *CONTRACTS})), "-k", "test_contracts")
    bundle = tmp_path / "bundle"
    ended = run_pytest(*device, *asked, bundle=bundle, suite="collectives", timeout=240)
    every = {f"contract {one.name}" for one in OF_RANKS if one is not PLAIN}
    assert {record.message.partition(";")[0] for record in ended.records if _is(record, TWIN, "pass")} == every | {""}
    assert set(ended.failures()) == set(CONTRACTS), ended.text
    for name, contract in CONTRACTS.items():
        assert contract in {record.message.partition(";")[0] for record in ended.records if _is(record, name, "fail")}


def _is(record: Record, name: str, ended: str) -> bool:
    return record.implementation == name and outcome(record) == ended


ODD = """
import os
from kernels import implementation

@implementation("reduce_scatter", paradigm="torch", dtypes=("float32",))
def odd(x, *, op, group):
    every = x.new_empty((group.size, *x.shape))
    group.all_gather(every.view(-1), x.contiguous().view(-1))
    mine = every[:, group.rank]
    reduced = {"sum": mine.sum(0), "avg": mine.mean(0), "max": mine.amax(0), "min": mine.amin(0)}[op]
    return reduced + ("PORTOLAN_TEST_ODD" in os.environ and group.rank == 1)

@implementation("all_reduce", paradigm="torch", dtypes=("float32",))
def even(x, *, op, group):
    out = x.contiguous().clone()
    group.all_reduce(out, op)
    return out
"""


def test_places_are_compared_rank_by_rank(tmp_path: Path) -> None:
    """One run over two environments: what a rank of the other makes of the same case is held against the one here."""
    kernels, bundle = tmp_path / "odd.py", tmp_path / "bundle"
    kernels.write_text(ODD)
    chosen = ("--kernels", kernels, "--platform", "cpu,cpu@odd", "--implementation", "*/torch/odd,*/torch/even")
    asked = ("--gateway=popen//env:PORTOLAN_TEST_ODD=1//id=odd", "--ranks", "3", "--hypothesis-profile", "smoke")
    ended = run_pytest(*chosen, *asked, "-k", "test_agreement", bundle=bundle, suite="collectives", timeout=240)
    named = "reduce_scatter/torch/odd@cpu:ranks and reduce_scatter/torch/odd@cpu:ranks@odd"
    assert f"APART: {named}, rank 1, " in ended.text
    environment = read(bundle).environment
    (apart,) = environment["agreement reduce_scatter/torch/odd over 3 ranks"][0]["pairs"]
    assert apart["where"] == ["rank 1"]
    (alike,) = environment["agreement all_reduce/torch/even over 3 ranks"]
    assert alike["groups"] == [["all_reduce/torch/even@cpu:ranks", "all_reduce/torch/even@cpu:ranks@odd"]]
    assert {record.platform for record in ended.records if record.verdict == "wrong"} == {"cpu:ranks@odd"}


def test_every_one_in_the_file_is_tried_here() -> None:
    collectives = load([FILE]).collectives
    assert collectives is not None
    assert set(faults(collectives.implementations)) == {*NUMBERS, *CONTRACTS, *ENDING}
