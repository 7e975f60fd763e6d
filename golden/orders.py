"""In which order terms are added up: the structures that summation trees have, which fit any number of terms.

Vectors and threads keep lanes: of L lanes, term i goes to lane i mod L. Others cut the terms into blocks. Each lane or
block is added up by itself, and their sums after it, both in an order of their own. The words are those in which a
profile tells the shape of a tree that it found (after FPRev, USENIX ATC 2025).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PLAIN = ("sequential", "sequential from the end", "pairwise", "by halves")
"""Orders without parts: a running sum from either end, neighbours in pairs, the second half on the first."""

_PARTED = re.compile(r"(?:(?P<lanes>\d+) lanes|blocks of (?P<size>\d+)), each ")

Rounded = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Order:
    """``kind`` is one of :data:`PLAIN`; or "lanes" or "blocks", with their number or their size, added up ``within``
    each and then ``across`` them.
    """

    kind: str
    count: int = 0
    within: Order | None = None
    across: Order | None = None

    def __str__(self) -> str:
        if not self.within:
            return self.kind
        parts = f"{self.count} lanes" if self.kind == "lanes" else f"blocks of {self.count}"
        inside = f"({self.within})" if self.within.within else str(self.within)
        return f"{parts}, each {inside}, then {self.across}"

    def added(self, terms: np.ndarray, rounded: Rounded) -> np.ndarray:
        """Return the sum of ``terms`` (n, ...) along the first axis, ``rounded`` after each addition.

        Terms are exact: what a running sum takes in is rounded with it, as a fused multiply-add does, and all that is
        added in pairs is rounded before. Missing terms of the last lanes or block are zeros.
        """
        if not len(terms):
            return np.zeros(terms.shape[1:])
        if self.within and self.across:
            whole = _padded(terms, self.count)
            apart = whole.reshape(len(whole) // self.count, self.count, *terms.shape[1:])
            inner = self.within.added(apart if self.kind == "lanes" else np.moveaxis(apart, 1, 0), rounded)
            return self.across.added(inner, rounded)
        if self.kind.startswith("sequential"):
            first, *others = terms if self.kind == "sequential" else terms[::-1]
            state = rounded(first)
            for term in others:
                state = rounded(state + term)
            return state
        level = rounded(_padded(terms, 1 << (len(terms) - 1).bit_length()))
        while len(level) > 1:
            half = len(level) // 2
            one, other = (level[::2], level[1::2]) if self.kind == "pairwise" else (level[:half], level[half:])
            level = rounded(one + other)
        return level[0]


def lanes(count: int, across: str = "pairwise") -> Order:
    """Return the order of a vector of ``count`` lanes, each a running sum."""
    return Order("lanes", count, Order("sequential"), Order(across))


def order_of(words: str) -> Order | None:
    """Return the order that ``words`` say, as ``str`` writes them; None for others, such as several terms at once."""
    found = _PARTED.match(words)
    if not found:
        return Order(words) if words in PLAIN else None
    inside, across = _split(words[found.end() :])
    within, after = order_of(inside), order_of(across)
    if not within or not after:
        return None
    return Order("lanes" if found["lanes"] else "blocks", int(found["lanes"] or found["size"]), within, after)


def _split(words: str) -> tuple[str, str]:
    """Return what stands before and behind the ", then " that belongs to no brackets."""
    depth = 0
    for place, letter in enumerate(words):
        depth += (letter == "(") - (letter == ")")
        if not depth and words.startswith(", then ", place):
            inside = words[:place]
            return inside[1:-1] if inside.startswith("(") else inside, words[place + len(", then ") :]
    return "", ""


def _padded(terms: np.ndarray, multiple: int) -> np.ndarray:
    """Return ``terms`` (n, ...) with zeros behind them, so that their number is a multiple."""
    missing = -len(terms) % multiple
    return np.concatenate([terms, np.zeros((missing, *terms.shape[1:]))]) if missing else terms
