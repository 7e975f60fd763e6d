"""Summation trees: which terms of a sum meet first. Their shape in words, in brackets, and as a computation.

A tree is a term's number, or a tuple of two trees or more that are added at once. Addition commutes, so the order
within a tuple says nothing; it is always that of the smallest numbers.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, Union

import numpy as np

Tree = Union[int, tuple["Tree", ...]]  # noqa: UP007 - a name in quotes takes no "|" before Python 3.14


class InconsistentError(ValueError):
    """Sizes of subtrees belong to no tree."""


def leaves(tree: Tree) -> list[int]:
    """Return the numbers of the terms in ``tree``, as they stand in it."""
    return [tree] if isinstance(tree, int) else [leaf for child in tree for leaf in leaves(child)]


def nodes(tree: Tree) -> Iterator[tuple[Tree, ...]]:
    """Yield every addition in ``tree``, those inside before those around them."""
    if not isinstance(tree, int):
        for child in tree:
            yield from nodes(child)
        yield tree


def from_value(value: int | Sequence[object]) -> Tree:
    """Return the tree that nested lists (of JSON) say."""
    return value if isinstance(value, int) else tuple(from_value(child) for child in value)  # type: ignore[arg-type]


def from_brackets(text: str) -> Tree:
    """Return the tree that :func:`brackets` wrote as ``text``."""
    return from_value(json.loads(text.replace("(", "[").replace(")", "]").replace(" ", ",")))


def brackets(tree: Tree) -> str:
    """Return the tree as text: ``((0 1) (2 3))``."""
    return str(tree) if isinstance(tree, int) else f"({' '.join(brackets(child) for child in tree)})"


def meetings(tree: Tree) -> np.ndarray:
    """Return, for each pair of terms, how many terms the smallest subtree has that holds both; 1 on the diagonal."""
    n = len(leaves(tree))
    sizes = np.ones((n, n), np.int64)
    for node in nodes(tree):
        parts = [leaves(child) for child in node]
        size = sum(map(len, parts))
        for left, right in combinations(parts, 2):
            sizes[np.ix_(left, right)] = sizes[np.ix_(right, left)] = size
    return sizes


def from_meetings(sizes: np.ndarray) -> Tree:
    """Return the tree whose :func:`meetings` are ``sizes``; raises InconsistentError if there is none."""
    tree, _ = _grown(list(range(len(sizes))), sizes)
    if sorted(leaves(tree)) != list(range(len(sizes))) or not np.array_equal(meetings(tree), sizes):
        raise InconsistentError("the terms meet in a way that no tree has")
    return tree


def _grown(terms: list[int], sizes: np.ndarray) -> tuple[Tree, int]:
    """Return the tree of ``terms`` and how many terms meet at its root."""
    first, *others = terms
    tree, size = first, 1  # type: Tree, int
    for met in sorted({int(sizes[first, other]) for other in others}):
        part, part_size = _grown([other for other in others if sizes[first, other] == met], sizes)
        # Terms that all meet at once are found one by one, each time at a root of the same size.
        together = part if not isinstance(part, int) and part_size == met else (part,)
        tree, size = (tree, *together), met
    return tree, size


def added(tree: Tree, terms: np.ndarray, add: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return what ``add`` makes of ``terms`` (..., n) along the last axis, in the order of ``tree``."""
    if isinstance(tree, int):
        return terms[..., tree]
    return functools.reduce(add, (added(child, terms, add) for child in tree))


def sequential(n: int, together: int = 1) -> Tree:
    """Return the tree of a running sum that takes ``together`` terms at a time."""
    total: Tree = 0 if together == 1 else tuple(range(together))
    for start in range(together, n, together):
        total = (total, *range(start, min(start + together, n)))
    return total


def pairwise(n: int) -> Tree:
    """Return the tree of neighbours added in pairs, again and again, for ``n`` a power of two."""
    level: list[Tree] = list(range(n))
    while len(level) > 1:
        level = [(left, right) for left, right in zip(level[::2], level[1::2], strict=True)]
    return level[0]


def halving(n: int) -> Tree:
    """Return the tree of halves added to each other, again and again, for ``n`` a power of two."""
    level: list[Tree] = list(range(n))
    while len(level) > 1:
        half = len(level) // 2
        level = [(left, right) for left, right in zip(level[:half], level[half:], strict=True)]
    return level[0]


class _Shape(NamedTuple):
    """A shape in words. The one with the fewest ``steps`` says it best, and then the one that comes first."""

    steps: int
    order: int
    words: str
    parts: tuple[Tree, ...] = ()


def shape(tree: Tree) -> str:
    """Return the shape of ``tree`` in words, whichever numbers its terms have; "irregular" if it has no equal parts."""
    return _shape(_numbered(tree)).words


def parts(tree: Tree) -> list[Tree]:
    """Return the equal parts that the shape of ``tree`` names; itself if it is one part, none if it is irregular."""
    terms = dict(enumerate(sorted(leaves(tree))))
    return [_renamed(part, terms) for part in _shape(_numbered(tree)).parts]


def _numbered(tree: Tree) -> Tree:
    return _ordered(_renamed(tree, {leaf: place for place, leaf in enumerate(sorted(leaves(tree)))}))


_IRREGULAR = _Shape(1000, 0, "irregular")


@functools.lru_cache(maxsize=4096)
def _shape(tree: Tree) -> _Shape:
    n = len(leaves(tree))
    for words, made in _primitives(n):
        if made == tree:
            return _Shape(1, 0, words, (tree,))
    return min(_composed(tree, n), default=_IRREGULAR)


@functools.lru_cache(maxsize=256)
def _primitives(n: int) -> list[tuple[str, Tree]]:
    found: list[tuple[str, Tree]] = [("sequential", sequential(n))]
    if n & (n - 1) == 0:
        found += [("pairwise", pairwise(n)), ("by halves", halving(n))]
    found.append(("sequential from the end", _ordered(_renamed(sequential(n), {i: n - 1 - i for i in range(n)}))))
    found += [("all at once" if w == n else f"{w} at a time", sequential(n, w)) for w in range(2, n + 1)]
    return found


def _composed(tree: Tree, n: int) -> Iterator[_Shape]:
    """Yield the ways to see ``tree`` as equal parts that are added up alike: lanes, or blocks."""
    known = {frozenset(leaves(node)) for node in nodes(tree)}
    for count in range(2, n // 2 + 1):
        if n % count:
            continue
        size = n // count
        lanes = [list(range(first, n, count)) for first in range(count)]
        blocks = [list(range(first, first + size)) for first in range(0, n, size)]
        for kind, terms in enumerate((lanes, blocks)):
            if not all(frozenset(part) in known for part in terms):
                continue
            trees = tuple(_subtree(tree, part) for part in terms)
            if len({_numbered(one) for one in trees}) > 1:
                continue
            within = _shape(_numbered(trees[0]))
            across = _shape(_ordered(_contracted(tree, {frozenset(part): i for i, part in enumerate(terms)})))
            name = f"{count} lanes" if kind == 0 else f"blocks of {size}"
            inside = within.words if within.steps == 1 else f"({within.words})"
            words = f"{name}, each {inside}, then {across.words}"
            yield _Shape(within.steps + across.steps, kind * n + count, words, trees)


def _subtree(tree: Tree, part: Iterable[int]) -> Tree:
    return next(node for node in nodes(tree) if set(leaves(node)) == set(part))


def _renamed(tree: Tree, names: dict[int, int]) -> Tree:
    return names[tree] if isinstance(tree, int) else tuple(_renamed(child, names) for child in tree)


def _contracted(tree: Tree, parts: dict[frozenset[int], int]) -> Tree:
    number = parts.get(frozenset(leaves(tree)))
    if number is not None:
        return number
    assert not isinstance(tree, int)
    return tuple(_contracted(child, parts) for child in tree)


def _ordered(tree: Tree) -> Tree:
    if isinstance(tree, int):
        return tree
    return tuple(sorted((_ordered(child) for child in tree), key=lambda child: min(leaves(child))))
