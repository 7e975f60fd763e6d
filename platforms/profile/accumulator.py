"""What holds a sum while it is added up: its bits, how it rounds, whether it overflows before the result does.

The tree of the sum says which terms meet first, so that each question can be put to one addition: L + t - L, where L
and t meet before -L joins them. The bits of the sum are those of the smallest t that comes back; then fractions of the
last of them tell the rounding. Where several terms are added at once, the same three terms in one such step show to
how many bits it aligns them. After the tests of Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA
tensor cores", PeerJ Computer Science 7, 2021, and "FTTN: Feature-Targeted Testing for Numerical Properties of NVIDIA &
AMD Matrix Accelerators", arXiv:2403.00232.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from golden.dtypes import dtype_of
from platforms.profile.answer import UNKNOWN, Answer, Finding, asked, identified
from platforms.profile.exactly import MODES, rounded_to_bits
from platforms.profile.summation import Reduction, UnclearError
from platforms.profile.trees import Tree, leaves, nodes

_FRACTIONS = (0.25, 0.5, 0.75, 1.25, 1.5, 1.75)  # of the last bit; each direction of rounding gives another pattern
_ASKED_BELOW = 2  # bits below the last one that the fractions take
_COARSE = (0.25, 0.5, 0.75, 1.5)  # those that have two bits themselves, as an accumulator of two holds them
_FEWEST_BITS = 2
_MOST_BITS = 60
_PLACES = 6  # additions that are asked, at most, of those that are alike


class Triple(NamedTuple):
    """Three terms: the first two meet, in one addition, before the third joins them."""

    first: int
    second: int
    last: int


class Place(NamedTuple):
    """Where an accumulator is asked: for the sum of a triple's first two terms.

    ``together`` are three terms that the addition of those two adds in one step, if it adds so many.
    """

    triple: Triple
    together: Triple | None


def separate(tree: Tree, wanted: Callable[[tuple[Tree, ...]], bool] = lambda node: True) -> list[Place]:
    """Return places where two terms meet in an addition of their own: from near the leaves to near the root.

    Only in those that are ``wanted``.

    Where terms are added several at a time, the first is what has been added up so far, if there is any.
    """
    found = []
    for node in nodes(tree):
        for inner in node:
            if isinstance(inner, int) or not wanted(inner):
                continue
            first, second = (leaves(child)[0] for child in (inner[0], inner[-1]))
            last = next(leaves(other)[0] for other in node if other is not inner)
            found.append((len(leaves(inner)), Place(Triple(first, second, last), _together(inner))))
    return _spread([place for _, place in sorted(found)])


def at_once(tree: Tree) -> list[Place]:
    """Return places where three terms are all added in one step."""
    return _spread([Place(triple, None) for node in nodes(tree) if (triple := _together(node))])


def _together(node: tuple[Tree, ...]) -> Triple | None:
    """Return three terms that one addition adds; None where it adds two."""
    return Triple(*(leaves(child)[0] for child in node[-3:])) if len(node) > 2 else None


def _spread(found: list[Place]) -> list[Place]:
    """Return as many of those ``found`` as are asked, the first and the last among them."""
    return [
        found[place]
        for place in np.unique(np.linspace(0, len(found) - 1, min(len(found), _PLACES)).round().astype(int))
    ]


def bits(sums: Reduction, triple: Triple, n: int) -> int:
    """Return how many bits the sum of the first two terms of ``triple`` keeps; raises UnclearError."""
    high, most = _scale(sums.dtype)
    terms = high * 2.0 ** -np.arange(1, most + 1)
    found = sums(_rows(triple, n, high, terms))
    kept = found == terms
    count = int(kept.argmin()) if not kept.all() else most
    if kept[count:].any() or not count:
        raise UnclearError(f"of 2**0 + 2**-b - 2**0 what comes back fits no number of bits: {found.tolist()}")
    return count + 1


def rounding(sums: Reduction, triple: Triple, n: int, held: int, twice: Triple | None = None) -> Finding:
    """Return the direction in which a sum of ``held`` bits is rounded.

    Terms that were cut to one bit more than the sum keeps tell one direction from another no more. Three that are added
    at once, ``twice`` the first of them, have a sum whose last place is twice as large, and two bits below it.
    """
    high, _ = _scale(sums.dtype)
    fractions = _FRACTIONS if held > _FEWEST_BITS else _COARSE
    signs = np.repeat([1.0, -1.0], len(fractions))
    rows = _rows(triple, n, signs * high, signs * np.tile(fractions, 2) * high * 2.0 ** (1 - held))
    terms = rows[:, triple.second].copy()
    if twice:
        rows[:] = 0.0
        rows[:, twice.first] = rows[:, twice.second] = signs * high
        terms = 2 * terms
        rows[:, twice.last], rows[:, triple.last], high = terms, -2 * signs * high, 2 * high
    found = sums(rows)
    predicted = {
        mode: np.array(
            [
                rounded_to_bits(Fraction(sign * high) + Fraction(term), held, mode) - sign * high
                for sign, term in zip(signs, terms, strict=True)
            ]
        )
        for mode in MODES
    }
    return identified(found, predicted)


def accumulator(sums: Reduction) -> Iterator[Answer]:
    """Yield the bits and the rounding of the accumulator, of steps that add several terms, and its overflow."""
    what = "products" if sums.products else "sums"
    yield asked(f"accumulator of {what}", sums.dtype, partial(_clear, partial(held, separate), sums))
    yield asked(f"alignment of {what} added at once", sums.dtype, partial(_clear, partial(held, at_once), sums))
    yield asked(f"intermediate overflow of {what}", sums.dtype, partial(_clear, _overflow, sums))


def _clear(probe: Callable[[Reduction, int, Tree], Finding], sums: Reduction) -> Finding:
    try:
        return probe(sums, *sums.largest())
    except UnclearError as error:
        return UNKNOWN, {"why": str(error)}


def held(places: Callable[[Tree], list[Place]], sums: Reduction, n: int, tree: Tree) -> Finding:
    """Return bits and rounding of the sums at ``places`` of the ``tree`` of ``n`` terms; "none" for no such place."""
    found: list[tuple[str, dict[str, Any]]] = []
    for place in places(tree)[: 1 if sums.singly else None]:
        kept = bits(sums, place.triple, n)
        if kept > _scale(sums.dtype)[1]:
            found.append((f"{kept} bits or more", {"bits": kept}))
            continue
        cut = place.together and kept < bits(sums, place.together, n) < kept + _ASKED_BELOW
        twice = place.together if cut else None
        direction, evidence = rounding(sums, place.triple, n, kept, twice) if kept >= _FEWEST_BITS else (UNKNOWN, {})
        found.append((f"{kept} bits, {direction}", {"bits": kept, "rounding": direction, **evidence}))
    if not found:
        return "none", {"why": "no such step"}
    answers = dict.fromkeys(answer for answer, _ in found)
    return "; ".join(answers), {"places": len(found), "found": [evidence for _, evidence in found]}


def _overflow(sums: Reduction, n: int, tree: Tree) -> Finding:
    largest = 2.0 ** dtype_of(sums.dtype).emax
    found = [float(sums(_rows(triple, n, largest, np.array([largest])))[0]) for triple, _ in separate(tree)[:1]]
    words = {largest: "does not overflow", math.inf: "overflows"}
    answers = {"overflows" if math.isnan(one) else words.get(one, UNKNOWN) for one in found}
    return answers.pop() if len(answers) == 1 else UNKNOWN, {"found": [str(one) for one in found]}


def _scale(dtype: str) -> tuple[float, int]:
    """Return a number to ask with, and how many halvings of it and of its fractions can be asked for."""
    kind = dtype_of(dtype)
    exponent = min(kind.emax - 2, 10)
    return 2.0**exponent, min(_MOST_BITS, exponent - int(math.log2(kind.quantum)) - 2)


def _rows(triple: Triple, n: int, high: np.ndarray | float, terms: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(terms), n))
    rows[:, triple.first], rows[:, triple.second], rows[:, triple.last] = high, terms, -np.asarray(high)
    return rows
