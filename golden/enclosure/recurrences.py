"""Recurrences along an axis, each state of which is made from the one before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from golden.enclosure.array import RADIUS, UNIFORM, Enclosure, rows, settled, shared
from golden.precision import Precision


def linear_recurrence(a: Any, b: Any) -> Any:
    """Return h with h[t] = a[t] * h[t-1] + b[t] along the last axis, where h before the first is 0.

    The operands are exact. States may be computed one after the other or by pairs, as an associative scan does, where
    (a1, b1) and then (a2, b2) make (a1 * a2, a2 * b1 + b2): so a bound is a share of the sum of magnitudes of terms,
    not of the state, and states are open from where products of a, or sums of terms, may leave the range. They are open
    too from an infinity on, since the order decides what it meets, and from a NaN on they are NaN. The first a is
    multiplied by 0: if it is not finite, all of its row is open.
    """
    if not isinstance(a, Enclosure):
        return np.stack(_states(a, b), -1) if a.shape[-1] else np.zeros(a.shape)
    if not a.value.size:
        return Enclosure(a.value, a.precision)
    finite_a, finite_b = (np.where(np.isfinite(one.value), one.value, 0.0) for one in (a, b))
    states = _states(Enclosure(finite_a, a.precision), Enclosure(finite_b, a.precision))
    value, tail, radius = (
        np.stack([np.broadcast_to(getattr(state, part), state.shape) for state in states], -1)
        for part in ("value", "tail", "radius")
    )
    hard, noise, lost = _bounds(np.abs(finite_a), np.abs(finite_b), a.precision)
    # A state's roundings are part of those after it too, so they do not average out over the result.
    errors = shared(rows(a.shape, hard=hard, noise=noise))
    errors[RADIUS] = radius if a.precision.doubled else radius + np.abs(tail)
    first = np.arange(a.shape[-1]) == 0
    unordered = np.isnan(b.value) | (np.isnan(a.value) & ~first)
    infinite = np.isinf(a.value) | np.isinf(b.value) | (np.isnan(a.value) & first)
    unordered, lost = (np.logical_or.accumulate(one, -1) for one in (unordered, lost | infinite))
    return settled(
        np.where(unordered, np.nan, value),
        a.precision,
        tail=np.where(unordered, 0.0, tail) if a.precision.doubled else 0.0,
        errors=np.where(unordered, 0.0, errors),
        open_=lost & ~unordered,
    )


def _states(a: Any, b: Any) -> list[Any]:
    """Return h[0], h[1], ..., each without the last axis."""
    states: list[Any] = []
    for t in range(a.shape[-1]):
        own, term = _column(a, t), _column(b, t)
        states.append(own * states[-1] + term if states else term)
    return states


def _column(x: Any, t: int) -> Any:
    return Enclosure(x.value[..., t], x.precision) if isinstance(x, Enclosure) else x[..., t]


def _bounds(a: np.ndarray, b: np.ndarray, precision: Precision) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return hard bound and noise of each state, for magnitudes of the operands, and which may leave the range.

    Hard: a term of h[t] goes through t multiplications and t additions at most. What one of them loses by underflow is
    multiplied by products of a on either side, and by one sum of terms. Noise: a rounding of a product over [i, t] or
    of a sum up to t weighs as much as the magnitude of all terms there at most, and in a scan by pairs as many of them
    end, or begin, at the same place as it has levels.
    """
    length, unit = a.shape[-1], precision.unit
    levels = 1 + math.ceil(math.log2(length))
    terms, spread, product = (np.zeros(a.shape[:-1]) for _ in range(3))
    most_terms, most_product = np.ones(a.shape[:-1]), np.ones(a.shape[:-1])
    hard, noise, lost = np.empty(a.shape), np.empty(a.shape), np.empty(a.shape, bool)
    for t in range(length):
        own, term = a[..., t], b[..., t]
        terms = own * terms + term
        product = own * np.maximum(product, 1.0)
        most_terms, most_product = np.maximum(most_terms, terms), np.maximum(most_product, product)
        spread = np.hypot(own * spread, math.sqrt(2 * levels) * terms) if t else spread
        grown = 2 * t * unit / (1 - 2 * t * unit)
        hard[..., t] = grown * terms + 2 * t * precision.underflow * most_terms * most_product**2
        noise[..., t] = UNIFORM * unit * spread
        lost[..., t] = ~((terms <= precision.largest) & (product <= precision.largest))
    return hard, noise, lost
