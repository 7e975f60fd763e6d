"""Are sums followed in the order that a profile tells, and is a real kernel's order found and named?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from golden.case import Case, TensorSpec
from golden.emulation import Emulation, Sums
from golden.orders import lanes, order_of
from kernels.registry import load
from platforms.interpreter import Interpreter
from platforms.pool import Pool
from platforms.profile.measuring import answers
from platforms.profile.trees import Tree, added, halving, pairwise, sequential, shape
from suites.causes import explained
from suites.measured import measured

SUM = "sum/triton/blocked"


def _placed(tree: Tree, parts: Sequence[Tree]) -> Tree:
    """Return ``tree`` with the part of its number in the place of each leaf."""
    return parts[tree] if isinstance(tree, int) else tuple(_placed(child, parts) for child in tree)


def _running(terms: Sequence[int]) -> Tree:
    return _placed(sequential(len(terms)), terms)


LANES = [_running(range(first, 32, 8)) for first in range(8)]
BLOCKS = [_running(range(first, first + 4)) for first in range(0, 32, 4)]
TREES = {
    "a running sum": sequential(32),
    "neighbours in pairs": pairwise(32),
    "halves": halving(32),
    "lanes in pairs": _placed(pairwise(8), LANES),
    "lanes one by one": _placed(sequential(8), LANES),
    "blocks by halves": _placed(halving(8), BLOCKS),
    "lanes of lanes": _placed(sequential(4), [(LANES[one], LANES[one + 4]) for one in range(4)]),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_terms_are_added_as_the_tree_is_whose_shape_the_words_tell(tree: Tree) -> None:
    order = order_of(shape(tree))
    assert order
    assert str(order) == shape(tree)
    terms = np.random.Generator(np.random.Philox(3)).normal(size=(50, 32)).astype(np.float32)
    sums = Sums(24, order=order).total(terms.astype(np.float64), 1)[:, 0]
    assert np.array_equal(sums, added(tree, terms, np.add))


@pytest.mark.parametrize(
    "words", ["8 lanes, each sequential, then pairwise", "blocks of 4, each pairwise, then by halves"]
)
def test_sums_of_nothing_many_of_them_or_none_have_an_order_too(words: str) -> None:
    order = order_of(words)
    assert order
    assert order.added(np.ones((10, 3, 0)), np.float32).shape == (3, 0)
    assert order.added(np.ones((0, 3)), np.float32).tolist() == [0, 0, 0]


def test_brackets_belong_to_the_parts_and_several_terms_at_once_are_no_order() -> None:
    words = "blocks of 32, each (2 lanes, each sequential, then sequential), then sequential"
    order = order_of(words)
    assert order
    assert (str(order), order.kind, order.count) == (words, "blocks", 32)
    assert order.within == lanes(2, "sequential")
    for other in ("irregular", "8 at a time", "2 lanes, each 8 at a time, then sequential", "lanes"):
        assert order_of(other) is None


def test_products_are_added_in_an_order_too_and_rounded_with_a_running_sum() -> None:
    random = np.random.Generator(np.random.Philox(4))
    a, b = (random.normal(size=shape).astype(np.float32).astype(np.float64) for shape in ((3, 13), (13, 2)))
    made = Sums(24, order=lanes(4)).products(a, b)
    for row in range(3):
        for column in range(2):
            sums = np.zeros(4)
            for k in range(13):  # the last lanes have a term less
                sums[k % 4] = np.float32(sums[k % 4] + a[row, k] * b[k, column])
            pairs = np.float32(sums[0] + sums[1]), np.float32(sums[2] + sums[3])
            assert made[row, column] == np.float32(np.float64(pairs[0]) + np.float64(pairs[1]))


def test_the_lanes_of_a_real_kernel_are_measured_found_and_named() -> None:
    operation = load().operations["sum"]
    case = Case("sum", "float32", {"x": [64, 64]}, {"dim": 1}, tensors={"x": TensorSpec()})
    with Pool() as pool:
        ran = pool.run(Interpreter(), SUM, case)
        said = answers(pool, Interpreter(), SUM, "brief")
    outputs = [result.array for result in ran.results]
    known = measured(said, operation, SUM, "float32")
    assert [cause.emulation for cause in known] == [Emulation(sums=Sums(24, order=lanes(8)))]
    for causes in (known, []):  # and without any profile
        found = explained(operation, case, outputs, measured=causes, most=1)
        assert found.name == "sums in float32, in the order 8 lanes, each sequential, then pairwise"
        assert "bit for bit" in found.brief
    told = explained(operation, case, outputs, measured=known, most=1).brief
    assert "measured of sum/triton/blocked: order of sums (8 lanes, each sequential, then pairwise)" in told
