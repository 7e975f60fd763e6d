"""Products of matrices whose terms are added in the very order that was measured of them, step by step.

A unit may take in several products at once, which it lines up first; sums of parts may then be joined by other means.
Which is which the tree says: a step that takes in a product is the unit's, one that has only sums before it joins them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Union

import numpy as np

from golden.emulation import TooLongError, aligned, check_length, exponent
from golden.rounding import round_significand

Tree = Union[int, tuple["Tree", ...]]  # noqa: UP007 - a name in quotes takes no "|" before Python 3.14


class Accumulator(NamedTuple):
    """The significand ``bits`` that a sum keeps, and by which ``mode`` of :mod:`golden.rounding` it loses others."""

    bits: int = 24
    mode: str = "nearest"

    def __str__(self) -> str:
        return f"{self.bits} bits{', truncating' if self.mode == 'truncated' else ''}"


class Followed(NamedTuple):
    """A product whose terms are added up as ``tree`` says, nested tuples of their numbers; ``words`` name its shape.

    Sums that take in products have ``inner``, sums of sums ``outer``. Where terms are added at once, or with what was
    added before, they are first cut off beyond ``kept`` bits of the largest of them (None: no such thing is done).
    """

    tree: Tree
    inner: Accumulator
    outer: Accumulator
    kept: int | None = None
    words: str = ""

    def __str__(self) -> str:
        cut = f", cut off {self.kept} bits below the largest" if self.kept else ""
        joined = f", joined in {self.outer}" if self.inner != self.outer else ""
        return f"in the order {self.words}{cut}, in {self.inner}{joined}"

    @property
    def unit(self) -> float:
        """The largest relative error of one addition, of the terms' magnitudes."""
        bits = min(self.inner.bits, self.outer.bits, self.kept or self.inner.bits)
        return 2.0 ** (1 - bits)

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the product of matrices (..., m, k) and (..., k, n); raises TooLongError where k is another length."""
        m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
        known = sum(1 for _ in _leaves(self.tree))
        if k != known:
            raise TooLongError(f"the order of {known} terms was measured, and not of {k}")
        check_length(k * m * n * int(np.prod(np.broadcast_shapes(left.shape[:-2], right.shape[:-2]))))
        return self._part(self.tree, left, right)[0]

    def _part(self, tree: Tree, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a part of the sum, and the exponents by which it is lined up with others."""
        if isinstance(tree, int):
            a, b = left[..., :, tree, None], right[..., None, tree, :]
            return a * b, exponent(a) + exponent(b)
        values, exponents = zip(*(self._part(child, left, right) for child in tree), strict=True)
        takes_in = any(isinstance(child, int) for child in tree)
        terms = np.stack(values, -2)
        total = aligned(terms, np.stack(exponents, -2), self.kept) if takes_in and self.kept else terms.sum(-2)
        bits, mode = self.inner if takes_in else self.outer
        rounded = round_significand(total, bits, mode)
        return rounded, exponent(rounded)


def _leaves(tree: Tree) -> Iterator[int]:
    if isinstance(tree, int):
        yield tree
    else:
        for child in tree:
            yield from _leaves(child)
