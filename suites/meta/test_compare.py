"""Does the comparison of two platforms say how far a drift was carried over, and flag what nothing explains?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reports.agreement import render as agreement
from reports.allowance import allowance
from reports.bundle import Bundle
from reports.compare import Carried, render
from reports.fleet.carrying import carried
from reports.fleet.loading import Fleet
from reports.record import Record

Compare = Callable[..., list[Carried]]

EAGER = "gemm/torch/eager"


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """What is made of several runs, each the records of one bundle, and ``facts`` of its environment."""
    numbers = count()

    def compared(*runs: Iterable[Record], facts: Sequence[dict[str, Any]] = ()) -> list[Carried]:
        directories = [tmp_path / str(next(numbers)) for _ in runs]
        for directory, records, told in zip(directories, runs, facts or [{}] * len(runs), strict=True):
            with Bundle.create(directory, {"host": directory.name, **told}) as bundle:
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


def profile(platform: str, machine: str, **answers: str) -> dict[str, Any]:
    """Return what a run's environment says of a platform that answers so on float32."""
    said = [
        {"machine": machine, "topic": topic.replace("_", " "), "subject": "float32", "answer": answer}
        for topic, answer in answers.items()
    ]
    return {f"profile {platform}": {"extent": "brief", "answers": said}}


NEAREST, CUT = "24 bits, nearest even", "24 bits, toward zero"


@pytest.mark.parametrize(
    ("there", "here", "allowed"),
    [
        ({"accumulator_of_products": NEAREST}, {"accumulator_of_products": NEAREST}, 2),
        ({"accumulator_of_products": NEAREST}, {"accumulator_of_products": CUT}, 2 * 2 * 8),
        ({"accumulator_of_products": CUT}, {"accumulator_of_products": NEAREST}, 2),
        ({"accumulator_of_products": NEAREST}, {"accumulator_of_products": "14 bits, nearest even"}, 2 * 2**10),
        ({"order_of_products": "pairwise"}, {"order_of_products": "sequential"}, 2 * 8),
        ({"operands_of_products": "as they are"}, {"operands_of_products": "tf32, truncated"}, 2 * 2**14),
        ({"operands_of_products": "as they are"}, {"operands_of_products": "two parts of tf32, nearest even"}, 2 * 2),
        ({"alignment_of_products_added_at_once": "none"}, {"alignment_of_products_added_at_once": CUT}, 2),
        ({"order_of_products": "pairwise"}, {"order_of_products": "unknown"}, 2),
        ({"subnormal_operands_of_products": "kept"}, {"subnormal_operands_of_products": "flushed"}, math.inf),
        ({"order_of_products": "pairwise"}, {"accumulator_of_products": CUT}, None),
    ],
)
def test_profiles_explain_as_much_as_what_they_say_differently(
    there: dict[str, str], here: dict[str, str], allowed: float | None
) -> None:
    one, other = (profile("x", EAGER, **said)["profile x"]["answers"] for said in (there, here))
    assert allowance(one, other, EAGER, 64) == allowed


def test_functions_of_the_paradigm_count_and_sums_of_other_implementations_do_not() -> None:
    exact, rough = ({"error_of_exp": f"{ulp} ULP"} for ulp in ("0.50", "60"))
    one, other = (profile("x", "triton", **said)["profile x"]["answers"] for said in (exact, rough))
    assert allowance(one, other, "softmax/triton/online", 1) == 2 * 120
    assert allowance(one, other, "softmax/torch/eager", 1) is None
    one, other = (
        profile("x", "gemm/triton/naive", accumulator_of_products=said)["profile x"]["answers"]
        for said in (NEAREST, CUT)
    )
    assert allowance(one, other, "attention/triton/flash", 64) == 32
    assert allowance(one, other, "gemm/triton/tiled", 64) is None


@pytest.mark.parametrize(
    ("figures", "said", "flagged"),
    [
        ({"rms_ulp": 1.0}, NEAREST, False),
        ({"rms_ulp": 2.5}, NEAREST, True),
        ({"rms_ulp": 2.5, "bias_ulp": -1.5}, NEAREST, True),
        ({"rms_ulp": 1.0, "bias_ulp": -1.0}, NEAREST, False),
        ({"rms_ulp": 2.5, "bias_ulp": -1.5}, CUT, False),
        ({"rms_ulp": 40.0}, CUT, True),
        ({"rms_ulp": 2.5, "accounted": "declared numerics tf32", "verdict": "drift"}, NEAREST, False),
    ],
)
def test_an_error_within_bounds_is_flagged_where_it_exceeds_what_the_profiles_explain(
    compare: Compare, figures: dict[str, Any], said: str, flagged: bool
) -> None:
    """64 terms, so that an accumulator that cuts may err 32 times as much, and one that rounds alike by chance 2."""
    cases = [f'{{"dims":{{"m":4,"n":4,"k":64}},"seed":{seed}}}' for seed in range(3)]
    there = [record("cpu", case) for case in cases]
    # One case whose result cancels has any error, and is no sign of anything.
    wild = record("cpu", "cancels", rms_ulp=1e3), record("gpu", "cancels", rms_ulp=1e9, digest="b")
    here = [record("gpu", case, digest="b", **figures) for case in cases]
    answers = {
        name: profile(name, EAGER, accumulator_of_products=how)[f"profile {name}"]
        for name, how in (("cpu", NEAREST), ("gpu", said))
    }
    facts = [{f"profile {name}": value} for name, value in answers.items()]
    (row,) = compare([*there, wild[0]], [*here, wild[1]], facts=facts)
    assert row.flagged is flagged
    assert ("FLAGGED" in render([row])) is flagged
    (unasked,) = compare(there, here)
    assert not unasked.flagged


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
