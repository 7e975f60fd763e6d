"""Are the causes that a profile names tried first, told with what was measured, and not believed against the output?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from golden.case import Case
from golden.causes import Cause
from golden.dtypes import encode
from golden.emulation import Emulation, MatrixUnit, Rounding, Sums, TooLongError
from golden.followed import Accumulator, Followed
from kernels.registry import load
from platforms.profile.shaped import order_at
from platforms.profile.trees import Tree, from_brackets, leaves, meetings
from suites.causes import explained
from suites.drawn import drawn
from suites.goldens import compute
from suites.measured import measured, measured_at
from suites.meta.planted import Plant, plants
from suites.meta.simulated import Accumulation, Simulated

OPERATIONS = load().operations
GEMM = OPERATIONS["gemm"]
LIBRARY, KERNEL = "gemm/torch/tf32", "gemm/triton/tf32"


def _answers(machine: str, subject: str, **said: str) -> list[dict[str, str]]:
    topics = {name.replace("_", " "): answer for name, answer in said.items()}
    return [{"machine": machine, "topic": topic, "subject": subject, "answer": said} for topic, said in topics.items()]


H200 = [
    *_answers(
        LIBRARY,
        "float32",
        operands_of_products="tf32, nearest even",
        order_of_products="blocks of 32, each 8 at a time, then sequential",
        accumulator_of_products="24 bits, toward zero",
        alignment_of_products_added_at_once="26 bits, toward zero",
    ),
    *_answers(KERNEL, "float32", operands_of_products="tf32, truncated", order_of_products="irregular"),
]
"""Some of what an H200 answered."""


def _planted(kind: str) -> Plant:
    return next(plant for plant in plants() if plant.kind == kind)


def _emulations(found: list[Cause]) -> list[Emulation]:
    return [cause.emulation for cause in found]


def test_answers_on_products_are_causes_and_their_evidence() -> None:
    rounded, added = measured(H200, GEMM, LIBRARY, "float32")
    assert rounded.name == "operands of matrix products rounded to tf32"
    assert rounded.evidence == "gemm/torch/tf32: operands of products (tf32, nearest even)"
    assert added.emulation == Emulation(unit=MatrixUnit(8, 26, 24, chunk=32))
    assert "alignment of products added at once (26 bits, toward zero)" in added.evidence


def test_each_implementation_of_products_answers_for_itself_and_the_first_for_other_operations() -> None:
    assert _emulations(measured(H200, GEMM, KERNEL, "float32")) == [Emulation(operands=Rounding("tf32", "truncated"))]
    for other in ("gemm/torch/eager", "gemm/inductor/compiled"):
        assert measured(H200, GEMM, other, "float32") == []
    rounded, otherwise, added = measured(H200, OPERATIONS["attention"], "attention/torch/eager", "float32")
    assert [rounded, added] == measured(H200, GEMM, LIBRARY, "float32")
    assert otherwise.emulation == rounded.emulation._replace(otherwise=True)
    assert otherwise.name == "operands of matrix products rounded to tf32, the formula written otherwise"


def test_weights_that_are_divided_before_they_are_rounded_are_told_from_those_divided_after() -> None:
    attention = OPERATIONS["attention"]
    case = next(one for one in drawn(attention, 8, budget=2**9, dtype="float32") if one.dims["sk"] > 2)
    rounded, otherwise, _ = measured(H200, attention, "attention/torch/eager", "float32")
    for right in (rounded, otherwise):
        granted = replace(attention.precision("float32"), emulated=right.emulation)
        made = [np.array(one.nominal) for one in compute(attention, case, granted).values()]
        found = explained(attention, case, made, measured=[rounded, otherwise], most=1)
        assert [trial.causes for trial in found.found] == [(right,)]
    assert measured(H200, OPERATIONS["softmax"], "softmax/torch/eager", "float32") == []
    assert measured(H200, GEMM, LIBRARY, "float16") == []


def test_answers_on_sums_and_numbers_are_causes_where_they_are_not_the_usual() -> None:
    sums, numbers = "sum/torch/eager", "torch"
    said = [
        *_answers(sums, "float16", order_of_sums="sequential", accumulator_of_sums="11 bits, nearest even"),
        *_answers(sums, "float64", order_of_sums="sequential", accumulator_of_sums="53 bits, nearest even"),
        *_answers(numbers, "float16", subnormal_operands="flushed", subnormal_results="kept"),
        *_answers(numbers, "float32 to float16", rounding_of_conversions="toward zero"),
        *_answers(numbers, "float32 to bfloat16", rounding_of_conversions="nearest even"),
    ]
    assert _emulations(measured(said, OPERATIONS["sum"], sums, "float16")) == [
        Emulation(sums=Sums(11, "nearest", "float16")),
        Emulation(inputs=Rounding("float16", flushed=True)),
        Emulation(result=(Rounding("float16", "truncated"),)),
    ]
    for dtype in ("float64", "bfloat16"):
        assert measured(said, OPERATIONS["sum"], sums, dtype) == []


def test_a_measured_cause_is_named_alone_and_with_its_evidence() -> None:
    plant = _planted("tf32 operands, rounded")
    outputs = plant.outputs(GEMM)
    before = explained(GEMM, plant.case, outputs)
    after = explained(GEMM, plant.case, outputs, measured=measured(H200, GEMM, LIBRARY, "float32"))
    assert before.name.startswith("operands of matrix products rounded to tf32 or rounded, ties away, to tf32 or")
    assert after.name == "operands of matrix products rounded to tf32"
    assert after.brief.endswith("measured of gemm/torch/tf32: operands of products (tf32, nearest even))")


def test_what_was_measured_is_not_believed_where_the_output_says_otherwise() -> None:
    plant = _planted("tf32 operands, cut")
    found = explained(GEMM, plant.case, plant.outputs(GEMM), measured=measured(H200, GEMM, LIBRARY, "float32"))
    assert plant.right(found)
    assert "measured" not in found.brief


def test_a_unit_that_only_the_profile_knows_is_recognized() -> None:
    case = replace(_planted("tf32 operands, rounded").case, seed=3)
    known = measured(H200, GEMM, LIBRARY, "float32")
    both = Emulation(operands=known[0].emulation.operands, unit=known[1].emulation.unit)
    made = compute(GEMM, case, replace(GEMM.precision("float32"), emulated=both))["out"].nominal
    found = explained(GEMM, case, [np.array(made)], measured=known, most=2)
    assert [trial.causes for trial in found.found] == [tuple(known)]
    assert "bit for bit" in found.brief


def test_parts_that_are_added_at_once_and_joined_otherwise_are_one_cause() -> None:
    """As an H200 answered of 16 terms."""
    said = _answers(
        LIBRARY,
        "float32",
        order_of_products="blocks of 4, each all at once, then sequential",
        accumulator_of_products="24 bits, toward zero; 24 bits, nearest even",
        alignment_of_products_added_at_once="26 bits, toward zero",
    )
    assert _emulations(measured(said, GEMM, LIBRARY, "float32")) == [Emulation(unit=MatrixUnit(4, 26, 24, chunk=4))]
    other = [
        {**one, "answer": one["answer"].replace("zero; 24 bits, nearest", "zero; 14 bits, nearest")} for one in said
    ]
    assert measured(other, GEMM, LIBRARY, "float32") == []


def _unit(tree: Tree) -> Simulated:
    """A machine that takes in four products at once, and joins parts of eight in float32."""
    made = Accumulation(tree, bits=24, mode="toward zero", aligned=25, chunk=8, wide=(24, "nearest even"))
    return Simulated(accumulation={"products": made}, operands=(11, "nearest even"))


PARTS: tuple[Tree, ...] = tuple(
    ((first, *range(first + 1, first + 4)), *range(first + 4, first + 8)) for first in range(0, 24, 8)
)


@pytest.mark.parametrize(
    ("tree", "words", "joined"),
    [
        ((*PARTS[:2],), "blocks of 8, each 4 at a time, then sequential", "none"),
        ((PARTS[:2], PARTS[2]), "blocks of 8, each 4 at a time, then sequential", "24 bits, nearest even"),
        ((PARTS[1:], PARTS[0]), "blocks of 8, each 4 at a time, then sequential from the end", "24 bits, nearest even"),
    ],
)
def test_the_order_at_a_case_s_own_shape_is_found_and_gives_every_bit(tree: Tree, words: str, joined: str) -> None:
    machine, terms = _unit(tree), len(leaves(tree))
    case = Case("gemm", "float32", {"m": 24, "n": 4, "k": terms})
    told = order_at(machine, "float32", rows=24, columns=4, terms=terms)
    assert (meetings(from_brackets(told["tree"])) == meetings(tree)).all()
    assert told | {"tree": ""} == {
        "tree": "",
        "words": words,
        "taken in": "24 bits, toward zero",
        "joined": joined,
        "aligned": "26 bits, toward zero",
    }
    rng = np.random.default_rng(1)
    a = encode(rng.standard_normal((24, terms)), "float32").astype(np.float64)
    b = 2.0 ** rng.integers(-12, 12, (terms, 4))
    made = machine.product(a, b, "float32")
    known = measured_at(told, LIBRARY, case)
    units = [cause.emulation.unit for cause in known]
    rounded = Rounding("tf32")(a)
    assert len(units) == (1 if joined != "none" else 2)
    assert any(np.array_equal(unit.products(rounded, b), made) for unit in units if unit)
    other = MatrixUnit(8, 26, 24).products(rounded, b)
    assert not np.array_equal(other, made)
    assert "at 24 x 4 x" in known[0].evidence


def test_an_order_that_is_too_much_to_ask_for_or_of_another_length_is_no_cause() -> None:
    told = order_at(_unit(PARTS[0]), "float32", rows=1, columns=1, terms=200)
    assert set(told) == {"why"}
    case = Case("gemm", "float32", {"m": 1, "n": 1, "k": 200})
    assert measured_at(told, LIBRARY, case) == []
    with pytest.raises(TooLongError, match="of 8 terms was measured, and not of 9"):
        Followed(PARTS[0], Accumulator(), Accumulator()).products(np.ones((1, 9)), np.ones((9, 1)))
