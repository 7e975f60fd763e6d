"""Metamorphic relations: how the result of an operation follows from its results on other inputs.

Values are float64, or int64, by name, as decoded from their dtypes. A relation that could not keep them exact in these
does not apply to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Values = Mapping[str, np.ndarray]
Call = Callable[[Values], np.ndarray]

_SMALLEST, _LARGEST = 2.0**-24, 2.0**5
"""What every dtype holds twice and more of, and sums of products of two."""

_LEAST = 2.0**-12
"""From here on, half of a value is a normal number in every floating dtype that has results."""

_WHOLE = 2**8
"""Up to here every floating dtype of two bytes or more holds all whole numbers."""


@dataclass(frozen=True)
class Relation:
    """One relation.

    Attributes:
        follows: asks a call for results on other values, and returns what the result on the given ones must then be;
            None where it does not apply.
        exact: whether it must be so in every bit: each rounding is then the same one.
    """

    follows: Callable[[Call, Values], np.ndarray | None]
    exact: bool = False


def scaled(tensor: str) -> Relation:
    """Return the relation of an operation that is linear in ``tensor``: of twice as much it is twice as much."""

    def follows(call: Call, values: Values) -> np.ndarray | None:
        size = np.abs(values[tensor])
        if not ((size == 0) | ((size >= _SMALLEST) & (size <= _LARGEST))).all():
            return None
        twice = call({**values, tensor: values[tensor] * 2})
        # At either end of a dtype's range, the other factor may be too large or small for its roundings to be the same.
        if not ((twice == 0) | ((np.abs(twice) >= _LEAST) & np.isfinite(twice))).all():
            return None
        return twice // 2 if twice.dtype.kind == "i" else twice / 2

    return Relation(follows, exact=True)


def shifted(tensor: str) -> Relation:
    """Return the relation of an operation that an amount added to all of ``tensor`` does not change."""

    def follows(call: Call, values: Values) -> np.ndarray | None:
        return call({**values, tensor: values[tensor] + 1}) if _whole(values[tensor], _LARGEST) else None

    return Relation(follows)


def split(tensor: str, other: str) -> Relation:
    """Return the relation of a matrix product: A(B + C) = AB + AC, where ``tensor`` is B + C and ``other`` is A."""

    def follows(call: Call, values: Values) -> np.ndarray | None:
        x, y = values[tensor], values[other]
        terms = np.abs(x).sum(-2, initial=0).max(initial=0) if _whole(x, _LARGEST) else np.inf
        if not (_whole(y, _LARGEST) and terms * np.abs(y).max(initial=0) <= _WHOLE):
            return None
        even = np.where(np.arange(x.shape[-2])[:, None] % 2, 0, x)
        return call({**values, tensor: even}) + call({**values, tensor: x - even})

    return Relation(follows)


def transposed(left: str, right: str) -> Relation:
    """Return the relation of a matrix product: it is the transpose of that of the transposes."""

    def follows(call: Call, values: Values) -> np.ndarray:
        turned = {left: np.swapaxes(values[right], -1, -2), right: np.swapaxes(values[left], -1, -2)}
        return np.swapaxes(call(turned), -1, -2)

    return Relation(follows)


def _whole(x: np.ndarray, most: float) -> bool:
    return bool((np.isfinite(x) & (x == np.round(x)) & (np.abs(x) <= most)).all())
