"""Do the probes recover, exactly, how a machine was made to compute?"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.dtypes import FLOATS
from platforms.profile import conversions, extremes, functions, integers, rounding, subnormals
from platforms.profile.accumulator import accumulator
from platforms.profile.answer import Answer
from platforms.profile.contraction import contraction
from platforms.profile.exactly import MODES
from platforms.profile.machine import Machine
from platforms.profile.operands import named, operands
from platforms.profile.questions import profile
from platforms.profile.summation import Reduction, order
from platforms.profile.trees import Tree, brackets, halving, meetings, nodes, pairwise, sequential, shape
from suites.meta.simulated import Accumulation, Simulated

TERMS = 16
SIZES = (8, TERMS)


def answers(found: Iterable[Answer], topic: str) -> dict[str, str]:
    """Return the answers on one topic by subject."""
    return {one.subject: one.answer for one in found if one.topic == topic}


@st.composite
def trees(draw: st.DrawFn, n: int = TERMS) -> Tree:
    """Any tree of pairs: terms in any order, met in any way."""
    level: list[Tree] = draw(st.permutations(range(n)))
    while len(level) > 1:
        at = draw(st.integers(0, len(level) - 2))
        level[at : at + 2] = [(level[at], level[at + 1])]
    return level[0]


def blocks(size: int) -> Tree:
    """Return the tree of blocks of so many terms, each added up one after another, and so are the blocks."""
    parts = [renamed(sequential(size), first) for first in range(0, TERMS, size)]
    return functools.reduce(lambda total, part: (total, part), parts[1:], parts[0])


def renamed(tree: Tree, first: int) -> Tree:
    return tree + first if isinstance(tree, int) else tuple(renamed(child, first) for child in tree)


def inner_nodes(tree: Tree) -> list[tuple[Tree, ...]]:
    """Return every addition but the last."""
    return [*nodes(tree)][:-1]


modes = st.sampled_from(sorted(MODES))
shapes = st.one_of(trees(), st.sampled_from([sequential(TERMS), pairwise(TERMS), halving(TERMS)]))
accumulations = st.builds(Accumulation, tree=shapes, bits=st.integers(2, 30), mode=modes, fused=st.booleans())
units = st.builds(
    Accumulation,
    tree=st.integers(3, TERMS).map(lambda width: sequential(TERMS, width)),
    bits=st.integers(8, 28),
    mode=modes,
    aligned=st.integers(8, 28),
)
chunked = st.builds(
    Accumulation,
    tree=st.just(blocks(4)),
    bits=st.integers(8, 28),
    mode=modes,
    chunk=st.just(4),
    wide=st.tuples(st.integers(8, 28), modes),
)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(made=accumulations, products=st.booleans())
def test_order_bits_and_rounding_of_an_accumulator_are_recovered(made: Accumulation, products: bool) -> None:
    machine = Simulated(accumulation={"products" if products else "sums": made})
    reduction = Reduction(machine, "float32", products=products, sizes=SIZES)
    found = order(reduction)
    assert (meetings(reduction.tree(TERMS)) == meetings(made.tree)).all()
    assert found.answer == shape(reduction.tree(TERMS))
    held = next(accumulator(reduction)).answer
    assert held == f"{made.bits} bits, {made.mode}"


@settings(max_examples=16, derandomize=True, deadline=None)
@given(made=units)
def test_the_steps_of_a_matrix_unit_are_recovered(made: Accumulation) -> None:
    reduction = Reduction(Simulated(accumulation={"products": made}), "float16", products=True, sizes=SIZES)
    assert brackets(reduction.tree(TERMS)) == brackets(made.tree)
    separate, at_once, _ = (answer.answer for answer in accumulator(reduction))
    assert at_once == f"{made.aligned + 1} bits, toward zero"
    # Additions of two terms are not aligned; all others are, before they are rounded.
    expected = {held(made) if len(node) > 2 else f"{made.bits} bits, {made.mode}" for node in inner_nodes(made.tree)}
    assert set(separate.split("; ")) == (expected or {"none"})


def held(made: Accumulation) -> str:
    """Return what can be seen of a sum that is rounded after its terms were cut: no more than both leave."""
    return f"{made.aligned + 1} bits, toward zero" if made.aligned < made.bits else f"{made.bits} bits, {made.mode}"


@settings(max_examples=12, derandomize=True, deadline=None)
@given(made=chunked)
def test_an_accumulator_of_parts_and_one_of_the_whole_are_recovered(made: Accumulation) -> None:
    reduction = Reduction(Simulated(accumulation={"sums": made}), "float32", sizes=SIZES)
    assert order(reduction).answer == "blocks of 4, each sequential, then sequential"
    found = next(accumulator(reduction)).answer
    assert set(found.split("; ")) == {f"{bits} bits, {mode}" for bits, mode in ((made.bits, made.mode), made.wide)}


@settings(max_examples=24, derandomize=True, deadline=None)
@given(
    bits=st.integers(2, 24),
    mode=st.sampled_from(["nearest", "away", "truncated"]),
    parts=st.sampled_from([1, 2]),
    accumulated=st.integers(2, 26),
)
def test_operands_rounded_before_they_are_multiplied_are_recovered_or_no_guess_is_made(
    bits: int, mode: str, parts: int, accumulated: int
) -> None:
    direction = {"nearest": "nearest even", "away": "nearest away"}.get(mode, "toward zero")
    sums = Accumulation(sequential(TERMS), bits=accumulated)
    found = operands(Simulated(operands=(bits, direction), parts=parts, accumulation={"products": sums}), "float32")
    exact = bits == 24 or (parts == 2 and 2 * bits + (mode != "truncated") >= 24)
    left = 24 if exact else bits if parts == 1 else 23
    right = "as they are" if exact else named(bits, mode, parts)
    split = parts == 2 and not exact
    if accumulated == left < 24 or (2 * accumulated + 1 < left and not (split and bits <= accumulated)):
        assert found.answer == "unknown"
    elif 2 * accumulated + 1 == left or (split and bits == accumulated):
        assert found.answer in ("unknown", right)  # as the sign of a rest is worth a bit, or not
    else:
        assert found.answer == right


@settings(max_examples=8, derandomize=True, deadline=None)
@given(kept=st.sets(st.sampled_from(FLOATS)), given_back=st.sets(st.sampled_from(FLOATS)))
def test_flushed_subnormals_are_recovered(kept: set[str], given_back: set[str]) -> None:
    flushes = {"operands": tuple(set(FLOATS) - kept), "results": tuple(set(FLOATS) - given_back)}
    plain = Accumulation(sequential(TERMS), bits=53)
    found = list(subnormals.subnormals(Simulated(flushes=flushes, accumulation={"sums": plain, "products": plain})))
    for topic, whose in (
        ("subnormal operands", kept),
        ("subnormal results", given_back),
        ("subnormal terms of sums", kept),
        ("subnormal operands of products", kept),
        ("subnormal results of products", given_back),
    ):
        assert answers(found, topic) == {dtype: "kept" if dtype in whose else "flushed" for dtype in FLOATS}, topic


@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_rounding_of_arithmetic_and_conversions_is_recovered(mode: str) -> None:
    machine = Simulated(direction={"arithmetic": mode, "conversions": mode})
    arithmetic = answers(rounding.rounding(machine), "rounding of arithmetic")
    assert arithmetic == dict.fromkeys(FLOATS, mode)
    found = answers(conversions.conversions(machine), "rounding of conversions")
    assert found == {f"{source} to {target}": mode for source, target in conversions.PAIRS}


@pytest.mark.parametrize("overflow", ["an infinity", "the largest number"])
def test_the_overflow_of_conversions_is_recovered(overflow: str) -> None:
    found = answers(conversions.conversions(Simulated(overflow=overflow)), "overflow of conversions")
    assert found["float32 to float16"] == overflow
    assert found["float32 to float8_e4m3fn"] == ("NaN" if overflow == "an infinity" else overflow)


@pytest.mark.parametrize("contracted", [True, False])
def test_contraction_is_recovered(contracted: bool) -> None:
    found = answers(contraction(Simulated(contracted=contracted)), "a * b + c")
    # A product of two narrow numbers is exact in float32, so that there fused is the same as computed in float32.
    narrow = dict.fromkeys(("float16", "bfloat16"), "fused or in float32") if contracted else {}
    assert found == dict.fromkeys(FLOATS, "fused" if contracted else "separate") | narrow


@settings(max_examples=6, derandomize=True, deadline=None)
@given(name=st.sampled_from([*functions.FUNCTIONS, "divide"]), off=st.integers(0, 9))
def test_the_error_of_a_function_is_recovered(name: str, off: int) -> None:
    machine = Simulated(off={name.split()[0]: off})
    for answer in functions.functions(machine):
        if answer.topic == f"error of {name}":
            error = answer.evidence["ulp"]
            # A result that is moved over a power of two is off by twice as many units of the true one.
            assert off <= error <= 2 * off + 0.5, answer


@pytest.mark.parametrize("with_nan", ["NaN", "the number", "the first operand", "the second operand"])
def test_what_maximum_makes_of_nan_is_recovered(with_nan: str) -> None:
    found = list(extremes.extremes(Simulated(with_nan=with_nan)))
    for name in ("maximum", "minimum"):
        assert answers(found, f"{name} with NaN") == {"float32": with_nan, "float16": with_nan}


@pytest.mark.parametrize("integer", ["saturates", "wraps around", "the least integer"])
@pytest.mark.parametrize("floors", [True, False])
def test_integers_are_recovered(integer: str, floors: bool) -> None:
    found = list(integers.integers(Simulated(integer=integer, floors=floors)))
    assert set(answers(found, "float32 out of range as integer").values()) == {integer}
    assert set(answers(found, "//").values()) == {"rounds down" if floors else "rounds toward zero"}
    assert set(answers(found, "%").values()) == {
        "has the divisor's sign" if floors else "has the dividend's sign",
    }


def test_a_machine_that_can_do_nothing_is_asked_everything_and_answers_nothing() -> None:
    assert {answer.answer for answer in profile(Machine())} == {"-"}


def test_the_shape_of_a_tree_in_words() -> None:
    assert shape(sequential(8)) == "sequential"
    assert shape(pairwise(8)) == "pairwise"
    assert shape(halving(8)) == "by halves"
    assert shape(sequential(16, 4)) == "4 at a time"
    lanes = (((0, 4), 8), 12), (((1, 5), 9), 13), (((2, 6), 10), 14), (((3, 7), 11), 15)
    assert shape(((lanes[0], lanes[1]), (lanes[2], lanes[3]))) == "4 lanes, each sequential, then pairwise"
    blocks = tuple((((i, i + 1), i + 2), i + 3) for i in range(0, 16, 4))
    assert shape((((blocks[0], blocks[1]), blocks[2]), blocks[3])) == "blocks of 4, each sequential, then sequential"
    assert shape(((0, 2), (1, (3, 4)))) == "irregular"
