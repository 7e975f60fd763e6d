"""Does the comparison of two platforms say how far a drift was carried over, and flag what nothing explains?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reports.agreement import render as agreement
from reports.bundle import Bundle
from reports.compare import Carried, render
from reports.fleet.carrying import carried
from reports.fleet.loading import Fleet
from reports.record import Record

Compare = Callable[..., list[Carried]]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """What is made of several runs, each the records of one bundle."""
    numbers = count()

    def compared(*runs: Iterable[Record]) -> list[Carried]:
        directories = [tmp_path / str(next(numbers)) for _ in runs]
        for directory, records in zip(directories, runs, strict=True):
            with Bundle.create(directory, {"host": directory.name}) as bundle:
                for one in records:
                    bundle.append(one)
        with Fleet(directories) as fleet:
            return carried(fleet)

    return compared


def record(platform: str, case: str = "{}", **figures: Any) -> Record:
    known = {"verdict": "within", "elements": 4, "rms_ulp": 0.5, "bias_ulp": 0.0, "share": 0.5, "digest": "a"}
    return Record(
        suite="equivalence",
        case=case,
        operation="gemm",
        dtype="float32",
        implementation="gemm/torch/eager",
        platform=platform,
        **{**known, **figures},
    )


def test_figures_are_ratios_and_differences_over_the_cases_that_both_have(compare: Compare) -> None:
    there = [record("cpu", "1"), record("cpu", "2", elements=12, rms_ulp=0.0), record("cpu", "3", rms_ulp=9.0)]
    here = [record("gpu", "1", digest="b", rms_ulp=1.0, bias_ulp=-1.0), record("gpu", "2", elements=12, rms_ulp=0.0)]
    (row,) = compare(there, here)
    assert (row.origin, row.target, row.cases, row.equal) == ("cpu", "gpu", 2, 0.5)
    assert row.rms == 2.0
    assert row.bias == -0.25
    assert not row.flagged


@pytest.mark.parametrize(
    ("said", "flagged"),
    [
        ({"verdict": "wrong", "cause": "explained by: inputs cut to bfloat16"}, False),
        ({"verdict": "wrong", "cause": "unexplained"}, True),
        ({"verdict": "drift"}, True),
        ({"verdict": "drift", "accounted": "declared numerics tf32"}, False),
    ],
)
def test_what_fails_is_flagged_unless_something_explains_it(
    compare: Compare, said: dict[str, str], flagged: bool
) -> None:
    (row,) = compare([record("cpu")], [record("gpu", **said, share=3.0)])
    assert row.flagged is flagged
    assert ("FLAGGED" in render([row])) is flagged


def test_platforms_of_one_run_are_compared_once(compare: Compare) -> None:
    assert len(compare([record("cpu"), record("gpu")])) == 1
    assert compare([record("cpu")]) == []


def test_platforms_of_one_name_are_told_apart_by_their_machines(compare: Compare) -> None:
    (row,) = compare([record("cpu")], [record("cpu", digest="b")])
    assert (row.origin, row.target, row.equal) == ("cpu@0", "cpu@1", 0.0)


def test_the_last_record_of_a_case_counts(compare: Compare) -> None:
    (row,) = compare([record("cpu", rms_ulp=8.0), record("cpu", rms_ulp=1.0)], [record("gpu", rms_ulp=2.0)])
    assert (row.cases, row.rms) == (1, 2.0)


def test_other_inputs_are_not_compared(compare: Compare) -> None:
    assert compare([record("cpu", input_digest="x")], [record("gpu", input_digest="y")]) == []


def test_groups_of_equal_bits_are_named_together() -> None:
    one, other = "gemm/torch/eager@cpu", "gemm/triton/naive@gpu"
    pair = {"one": one, "other": other, "share": 0.25, "open": 0, "differing": 3, "cause": f"{other}: sums in 14 bits"}
    found = [{"dtype": "float32", "groups": [[one, "gemm/torch/tf32@cpu"], [other]], "pairs": [pair]}]
    text = agreement({"agreement gemm": found}, width=120)
    assert text.splitlines()[1:] == ["  gemm, float32: torch/eager,tf32@cpu | triton/naive@gpu (0.25, sums in 14 bits)"]
    # An operation that nobody answered has no groups.
    for said in ({}, {"agreement gemm": [{"dtype": "float32", "groups": [], "pairs": []}]}):
        assert agreement(said, width=80) == ""
