"""Are summation trees drawn as they are, their equal parts named?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from platforms.profile.drawing import drawn, pictures, svg
from platforms.profile.trees import Tree, brackets, from_brackets, leaves, nodes, sequential

LANES: Tree = ((((0, 4), 8), (1, (5, 9))), (2, 3, 6, 7, 10, 11))
BLOCKS: Tree = (((0, 1, 2, 3), 4, 5, 6, 7), ((8, 9, 10, 11), 12, 13, 14, 15))
"""Two blocks of 8 terms, each 4 at a time."""


def test_a_regular_tree_is_one_line_and_equal_parts_are_a_line_each() -> None:
    assert drawn(sequential(64, 8)) == "0 1 2 ... 63: 64 terms, 8 at a time"
    assert drawn(BLOCKS).splitlines() == [
        "+",
        "├─ 0 1 2 ... 7: 8 terms, 4 at a time",
        "└─ 8 9 10 ... 15: 8 terms, 4 at a time",
    ]


def test_a_tree_that_is_irregular_is_drawn_to_its_terms() -> None:
    assert drawn((((0, 2), (1, 3, 5)), 4)).splitlines() == [
        "one after another",
        "├─ 0 2: 2 terms",
        "├─ 1 3 5: 3 terms, all at once",
        "└─ 4",
    ]


@pytest.mark.parametrize("tree", [BLOCKS, LANES, sequential(16)])
def test_a_picture_has_every_term_and_every_addition(tree: Tree) -> None:
    assert from_brackets(brackets(tree)) == tree
    root = ElementTree.fromstring(svg(tree, "a < b"))
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "a < b"
    assert texts[1:-1] == [str(leaf) for leaf in leaves(tree)]
    paths = [one.get("class", "") for one in root.iter("{http://www.w3.org/2000/svg}path")]
    sizes = [len(node) for node in nodes(tree)]
    assert (paths.count(""), paths.count("w")) == (sizes.count(2), sum(size > 2 for size in sizes))
    assert tree is not BLOCKS or texts[-1] == "2 blocks of 8 terms, 4 at a time"


def test_answers_with_a_tree_have_pictures() -> None:
    plain = {"machine": "gemm/torch/eager", "subject": "float32", "answer": "x", "evidence": {}}
    (picture,) = pictures("cpu", [plain, {**plain, "evidence": {"tree": "((0 1) 2)"}}])
    assert picture == ("cpu-gemm-torch-eager-float32", "gemm/torch/eager on cpu, float32: x", ((0, 1), 2))
