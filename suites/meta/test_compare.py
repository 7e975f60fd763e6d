"""Does the comparison of two platforms say how far a drift was carried over, and flag what nothing explains?"""

from __future__ import annotations

from typing import Any

import pytest

from reports.agreement import render as agreement
from reports.compare import carried, render
from reports.record import Record


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


def test_figures_are_ratios_and_differences_over_the_cases_that_both_have() -> None:
    there = [record("cpu", "1"), record("cpu", "2", elements=12, rms_ulp=0.0), record("cpu", "3", rms_ulp=9.0)]
    here = [record("gpu", "1", digest="b", rms_ulp=1.0, bias_ulp=-1.0), record("gpu", "2", elements=12, rms_ulp=0.0)]
    (row,) = carried(there, here)
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
def test_what_fails_is_flagged_unless_something_explains_it(said: dict[str, str], flagged: bool) -> None:
    (row,) = carried([record("cpu")], [record("gpu", **said, share=3.0)])
    assert row.flagged is flagged
    assert ("FLAGGED" in render([row])) is flagged


def test_platforms_of_one_run_are_compared_once() -> None:
    records = [record("cpu"), record("gpu")]
    assert len(carried(records, records)) == 1
    assert carried(records[:1], records[:1]) == []


def test_groups_of_equal_bits_are_named_together() -> None:
    one, other = "gemm/torch/eager@cpu", "gemm/triton/naive@gpu"
    pair = {"one": one, "other": other, "share": 0.25, "open": 0, "differing": 3, "cause": f"{other}: sums in 14 bits"}
    found = [{"dtype": "float32", "groups": [[one, "gemm/torch/tf32@cpu"], [other]], "pairs": [pair]}]
    text = agreement({"agreement gemm": found}, width=120)
    assert text.splitlines()[1:] == ["  gemm, float32: torch/eager,tf32@cpu | triton/naive@gpu (0.25, sums in 14 bits)"]
    assert agreement({}, width=80) == ""
