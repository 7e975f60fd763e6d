"""Are several results of one call each judged, and integer results with open or uncertain elements rightly?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from golden.case import Case
from golden.enclosure import Enclosure
from golden.judge import DRIFT, EXACT, WITHIN, WRONG, judge, judge_all, seal
from golden.precision import Precision
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from reports.bundle import Bundle
from reports.record import Record
from suites.run import Run
from suites.subject import Subject

KERNELS = '''
"""An operation of two results: the larger and the smaller of each two neighbours, and where the larger one is."""

import numpy as np
import torch
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Form
from kernels import Operation, implementation


class Ordered(Operation):
    """Pairs of the last axis, the larger first, and the place of the larger; where both are equal that is open."""

    name = "ordered"

    def shapes(self, case):
        return {"x": (*self.shape(case, "x"), 2)}

    def results(self, case):
        shape = self.shape(case, "x")
        return {"values": Form((*shape, 2), case.dtype), "place": Form(shape, "int64")}

    def dims(self, budget):
        return st.integers(0, 9).map(lambda size: ({"x": [size, 3]}, {}))

    def reference(self, x):
        first, second = (enclosure.taken(x, (..., slice(i, i + 1))) for i in range(2))
        larger, numbers = enclosure.maximum(first, second), enclosure.numbers(x)
        values = enclosure.concatenated([larger, enclosure.minimum(first, second)], -1)
        place = np.ma.array(np.argmax(numbers, -1), mask=numbers[..., 0] == numbers[..., 1])
        return values, place


@implementation("ordered", paradigm="torch")
def good(x):
    values, order = torch.sort(x, dim=-1, descending=True)
    return values, order[..., 0].clone()


@implementation("ordered", paradigm="torch")
def last_of_equals(x):
    """Another place where both are equal, which is open."""
    values, order = good(x)
    return values, torch.where(x[..., 0] == x[..., 1], 1, order)


@implementation("ordered", paradigm="torch")
def wrong_place(x):
    values, place = good(x)
    return values, 1 - place


@implementation("ordered", paradigm="torch")
def wrong_values(x):
    values, place = good(x)
    return values + 1, place


@implementation("ordered", paradigm="torch")
def one_short(x):
    return good(x)[0]


@implementation("ordered", paradigm="torch")
def place_unwritten(x):
    values, place = good(x)
    empty = torch.empty_like(place)
    empty[:1] = place[:1]
    return values, empty
'''
CASE = Case.parse('{"operation":"ordered","dtype":"float32","dims":{"x":[5,3]},"params":{},"seed":7}')
PLAIN = Precision("float32")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Record]]:
    """The record of each implementation on one case."""
    folder = tmp_path_factory.mktemp("results")
    path = folder / "ordered.py"
    path.write_text(KERNELS)
    catalogue = load([path])
    operation = catalogue.operations["ordered"]
    with Pool(kernels=[path]) as pool, Bundle.create(folder / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        mine = [one for one in catalogue.implementations.values() if one.operation == "ordered"]
        yield {one.name: run.one(Subject(operation, one, Cpu()), CASE, suite="meta") for one in mine}


def test_right_results_pass_and_what_is_open_is_not_judged(judged: dict[str, Record]) -> None:
    for name in ("good", "last_of_equals"):
        assert (judged[name].verdict, judged[name].elements) == ("exact", 45)


@pytest.mark.parametrize(("name", "said"), [("wrong_place", "place: "), ("wrong_values", "values: ")])
def test_one_wrong_result_among_right_ones_is_named(judged: dict[str, Record], name: str, said: str) -> None:
    assert judged[name].verdict == "wrong"
    assert judged[name].message.startswith(said)


def test_a_missing_result_is_wrong(judged: dict[str, Record]) -> None:
    expected = "returned float32[5, 3, 2] instead of float32[5, 3, 2], int64[5, 3]"
    assert (judged["one_short"].verdict, judged["one_short"].message) == ("wrong", expected)


def test_an_unwritten_part_of_the_second_result_is_named(judged: dict[str, Record]) -> None:
    assert judged["place_unwritten"].verdict == "unwritten"
    assert "12 of 15 output elements, first [1, 0] of place" in judged["place_unwritten"].message


def test_masked_integers_are_open_and_the_others_exact() -> None:
    golden = seal(np.ma.array([1, 2, 3], mask=[False, True, False]), "int64")
    assert judge(golden, np.array([1, 99, 3])).status == EXACT
    assert judge(golden, np.array([1, 99, 3])).open == 1
    assert judge(golden, np.array([1, 2, 4])).status == WRONG


def test_integers_that_no_float64_tells_apart_differ_all_the_same() -> None:
    golden = seal(np.array([2**60]), "int64")
    assert judge(golden, np.array([2**60 + 1])).status == WRONG


def test_whole_numbers_of_an_enclosure_may_be_off_by_their_bound_and_no_more() -> None:
    errors = np.zeros((4, 3))
    errors[1] = [0.0, 1.0, 2.5]  # hard
    errors[3] = [0.0, 1.0, 1.0]  # bias
    golden = seal(Enclosure(np.array([5.0, 7.0, 9.0]), PLAIN, errors=errors), "int8")
    for output, status in (
        ([5, 7, 9], EXACT),
        ([5, 8, 9], WITHIN),
        ([5, 7, 11], DRIFT),
        ([5, 7, 12], WRONG),
        ([6, 7, 9], WRONG),
    ):
        assert judge(golden, np.array(output, np.int8)).status == status


def test_what_is_not_a_number_is_open_as_an_integer() -> None:
    golden = seal(Enclosure(np.array([np.nan, 3.0]), PLAIN), "int32")
    verdict = judge(golden, np.array([-17, 3], np.int32))
    assert (verdict.status, verdict.open) == (EXACT, 1)


def test_another_number_of_results_is_an_error() -> None:
    golden = seal(np.array([1]), "int64")
    with pytest.raises(ValueError, match="zip"):
        judge_all({"a": golden, "b": golden}, [np.array([1])])
