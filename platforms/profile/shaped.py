"""How is one product of matrices added up, of the very shape of a case?

Libraries choose their kernels by the shape of a product, so that what a profile found of others need not hold of it.
"""

from __future__ import annotations

from functools import partial

from platforms.profile.accumulator import at_once, held, separate
from platforms.profile.machine import Machine, Unable
from platforms.profile.summation import Reduction, UnclearError
from platforms.profile.trees import Tree, brackets, shape

MOST_TERMS = 256
"""Terms whose order is asked for, at most: every pair of them is a question."""

MOST_PRODUCTS = 1024
"""Products of a shape that are computed for it, about; each answers as many questions as it has rows."""


def order_at(machine: Machine, dtype: str, *, rows: int, columns: int, terms: int) -> dict[str, str]:
    """Return how the product of matrices (rows, terms) and (terms, columns) of ``dtype`` is added up.

    ``tree`` says the order in brackets and ``words`` its shape; ``taken in``, ``joined`` and ``aligned`` are bits and
    rounding of sums that take in products, of sums of sums, and of terms that are added at once, each "none" where
    there is no such addition before the last. What is not clear, or too much to ask, is ``why`` there is nothing else.
    """
    if not 2 <= terms <= MOST_TERMS or terms * terms // 2 > MOST_PRODUCTS * rows:
        return {"why": f"the order of {terms} terms in products of {rows} rows is not asked for"}
    sums = Reduction(machine, dtype, products=True, sizes=(terms,), sides=(rows, columns))
    try:
        tree = sums.tree(terms)
        if sums.singly:
            return {"why": "the order is not the same everywhere in the product"}
        return {
            "tree": brackets(tree),
            "words": shape(tree),
            "taken in": held(partial(separate, wanted=_takes_in), sums, terms, tree)[0],
            "joined": held(partial(separate, wanted=lambda node: not _takes_in(node)), sums, terms, tree)[0],
            "aligned": held(at_once, sums, terms, tree)[0],
        }
    except (UnclearError, Unable) as error:
        return {"why": str(error)}


def _takes_in(node: tuple[Tree, ...]) -> bool:
    """Whether an addition takes in a term, rather than only sums of others."""
    return any(isinstance(child, int) for child in node)
