"""In which order are sums and matrix products added up? The whole tree, by masking.

A large number at one term and its negative at another swallow every small term that joins either before the two meet;
the units that survive count the terms outside the smallest subtree that holds both. All pairs together say the tree.
A sum that is rounded in one direction swallows the units of one sign alone, and is asked for every unit by itself.
After FPRev: Xie, Gao, Yao, Ji, Xue, "FPRev: Revealing Floating-Point Summation Order Through Testing", USENIX ATC 2025.
Terms that a matrix unit aligns and adds in one step all meet in one place: a node of several children.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from golden.dtypes import decode, dtype_of, encode
from platforms.profile.answer import UNKNOWN, Answer, Finding, asked
from platforms.profile.machine import Machine
from platforms.profile.trees import InconsistentError, Tree, added, brackets, from_meetings, shape

SIZES = (8, 16, 32, 64)
"""Numbers of terms whose trees are looked at: powers of two, as units and vectors have them."""

SIDE = 16
"""Rows and columns of the products that are asked for, at least: a matrix unit's tile."""

MOST_SINGLY = 16
"""Terms that are looked at, at most, where each pair of them takes a product of its own."""

MOST_ONE_BY_ONE = 16
"""Terms that are looked at, at most, where each of them takes a sum of its own for every pair."""

_REPLAYED = 16


class UnclearError(ValueError):
    """A sum does not behave as any tree does; the message says how."""


class Reduction:
    """The sums of rows of a machine, or its matrix products as sums of rows, in one dtype."""

    def __init__(
        self,
        machine: Machine,
        dtype: str,
        *,
        products: bool = False,
        sizes: tuple[int, ...] = SIZES,
        sides: tuple[int, int] | None = None,
    ) -> None:
        """``sides`` are the rows and columns that every product has; None for as many as there are questions."""
        self.machine = machine
        self.sides = sides
        self.sizes = sizes
        self.dtype = dtype
        self.products = products
        self.singly = False
        """Every row is a product of its own, because the order depends on where in the product an element lies."""
        self._trees: dict[int, Tree | UnclearError] = {}

    def __call__(self, terms: np.ndarray) -> np.ndarray:
        """Return the sums of the rows of ``terms`` (rows, n), each of which the dtype, or a product of it, has.

        The second factor of a product is 1 wherever the first can be the term itself. All rows whose second factors
        agree are one matrix, with copies of the column, so that the question is put to a matrix unit and not to a
        fallback for vectors; the first column answers.
        """
        if not self.products:
            return self.machine.sums(terms, self.dtype)
        left, right = _factors(terms, self.dtype)
        if self.singly:
            return np.concatenate([self._column(a[None], b) for a, b in zip(left, right, strict=True)])
        found = np.empty(len(terms))
        factors, which = np.unique(right, axis=0, return_inverse=True)
        for number, column in enumerate(factors):
            rows = which.reshape(-1) == number
            found[rows] = self._column(left[rows], column)
        return found

    def tree(self, n: int, *, again: bool = False) -> Tree:
        """Return the tree in which ``n`` terms are added up, asked once; raises UnclearError where they fit none."""
        if again or n not in self._trees:
            self._trees[n] = self._asked(n)
        tree = self._trees[n]
        if isinstance(tree, UnclearError):
            raise tree
        return tree

    def largest(self) -> tuple[int, Tree]:
        """Return the largest of ``sizes`` that has a tree, and the tree; raises UnclearError where none has."""
        for n in reversed(self.sizes):
            try:
                return n, self.tree(n)
            except UnclearError as error:
                why = error
        raise why

    def _asked(self, n: int) -> Tree | UnclearError:
        try:
            return _tree(self, n)
        except UnclearError as error:
            if self.singly or not self.products or n > MOST_SINGLY:
                return error
        self.singly = True
        return self._asked(n)

    def _column(self, rows: np.ndarray, column: np.ndarray) -> np.ndarray:
        height, width = self.sides or (-(-len(rows) // SIDE) * SIDE, SIDE)
        right, found = np.repeat(column[:, None], width, axis=1), np.empty(len(rows))
        for start in range(0, len(rows), height):
            part, matrix = rows[start : start + height], np.zeros((height, rows.shape[1]))
            matrix[: len(part)] = part
            found[start : start + height] = self.machine.product(matrix, right, self.dtype)[: len(part), 0]
        return found

    @property
    def extremes(self) -> tuple[float, float]:
        """A number so large that it swallows units, and the unit."""
        kind = dtype_of(self.dtype)
        if kind.emax > 100:
            return 2.0 ** (kind.emax - 1), 1.0
        # A narrow range has to be used from end to end; that takes subnormal units, and both factors of a product.
        if self.products and kind.itemsize == 1:
            return 2.0 ** (2 * (kind.emax - 1)), kind.quantum**2
        return 2.0**kind.emax, kind.quantum * 16


def _tree(sums: Reduction, n: int) -> Tree:
    pairs = list(combinations(range(n), 2))
    try:
        return _met(n, pairs, _survivors(sums, n, pairs))
    except UnclearError:
        if sums.singly or n > MOST_ONE_BY_ONE:
            raise
    return _met(n, pairs, _survivors_one_by_one(sums, n, pairs))


def _met(n: int, pairs: Sequence[tuple[int, int]], survivors: Sequence[int]) -> Tree:
    """Return the tree in which every pair meets before so many terms; raises UnclearError."""
    sizes = np.ones((n, n), np.int64)
    for (i, j), survived in zip(pairs, survivors, strict=True):
        sizes[i, j] = sizes[j, i] = n - survived
    try:
        return from_meetings(sizes)
    except InconsistentError as error:
        raise UnclearError(str(error)) from None


def _survivors(sums: Reduction, n: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each pair how many of the other terms, all of them units, survive the pair.

    An accumulator that cannot count so far is found out by sums of all units but one, each of which takes all its bits.
    """
    large, unit = sums.extremes
    terms = np.full((len(pairs) + n, n), unit)
    for row, (i, j) in enumerate(pairs):
        terms[row, i], terms[row, j] = large, -large
    terms[len(pairs) :][np.eye(n, dtype=bool)] = 0.0
    survivors, counted = np.split(sums(terms) / unit, [len(pairs)])
    if (counted != n - 1).any():
        raise UnclearError(f"{n - 1} units add up to {counted[counted != n - 1][0]:g}")
    for (i, j), survived in zip(pairs, survivors, strict=True):
        if not 0 <= survived <= n - 2 or survived % 1:
            raise UnclearError(f"large terms at {i} and {j} leave {survived:g} of {n} units")
    return [int(survived) for survived in survivors]


def _survivors_one_by_one(sums: Reduction, n: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the same from one unit at a time, among zeros.

    It comes back exactly if and only if it joins behind the pair, in whichever direction sums are rounded, and however
    few units the accumulator can hold.
    """
    large, unit = sums.extremes
    triples = [(i, j, k) for i, j in pairs for k in range(n) if k not in (i, j)]
    terms = np.zeros((len(triples), n))
    for row, (i, j, k) in enumerate(triples):
        terms[row, [i, j, k]] = large, -large, unit
    return (sums(terms) == unit).reshape(len(pairs), n - 2).sum(1).tolist()


def order(sums: Reduction) -> Answer:
    """Return the order in which terms are added up.

    The answer is the shape of the tree for the largest of its sizes; the evidence has the shape for each, the largest
    tree, and how many sums of random terms the tree reproduces bit for bit, in the arithmetic of the dtype or of
    float32.
    """

    def probe() -> Finding:
        shapes: dict[str, str] = {}
        for n in sums.sizes:
            try:
                shapes[str(n)] = shape(sums.tree(n))
            except UnclearError as error:
                shapes[str(n)] = f"{UNKNOWN}: {error}"
        try:
            n, tree = sums.largest()
            if not sums.singly and sums.tree(n, again=True) != tree:
                raise UnclearError("the order changes from one call to the next")
        except UnclearError as error:
            return UNKNOWN, {"shapes": shapes, "why": str(error)}
        evidence = {"shapes": shapes, "terms": n, "tree": brackets(tree), **_replayed(sums, tree, n)}
        return shapes[str(n)] + (", but not everywhere in the product" if sums.singly else ""), evidence

    return asked("order of products" if sums.products else "order of sums", sums.dtype, probe)


def _replayed(sums: Reduction, tree: Tree, n: int) -> dict[str, int]:
    """Return of how many sums of random terms, and of how many asked for, the tree gives every bit."""
    # Few bits a term, so that terms are exact in every dtype and sums are not.
    random, dtype = np.random.Generator(np.random.Philox(1)), sums.dtype
    bits = min(dtype_of(dtype).precision, 11)
    terms = np.ldexp(random.integers(2 ** (bits - 1), 2**bits, (_REPLAYED, n)), random.integers(-12, 1, (_REPLAYED, n)))
    terms = terms * random.choice([-1.0, 1.0], terms.shape)
    if dtype_of(dtype).emax < 100:
        terms = np.ldexp(terms, -bits)
    wide = np.float64 if dtype == "float64" else np.float32
    predicted = added(tree, terms.astype(wide), np.add)
    rounded = decode(encode(predicted.astype(np.float64), dtype), dtype)
    return {"replayed": int((sums(terms) == rounded).sum()), "rows": _REPLAYED}


def _factors(terms: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers of ``dtype`` for each term whose product it is."""
    kind = dtype_of(dtype)
    alone = (np.abs(terms) <= kind.largest) & (np.fmod(terms, kind.quantum) == 0)
    exponent = np.frexp(np.where(terms, terms, 1.0))[1] - 1
    right = np.where(alone, 1.0, np.ldexp(1.0, exponent // 2))
    return terms / right, right
