"""One pass over an output as most are: finite, within its bounds, and with nothing left open.

Its figures are added up block by block, so that what is computed on the way stays in the cache. Whatever else an
element may be makes the pass give up, and leaves the output to the judge's longer look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from golden import once
from golden.dtypes import decode, dtype_of, ulp

if TYPE_CHECKING:
    from golden.judge import Golden

_BLOCK = 2**15

_LEAST = {np.dtype(np.float32): 2.0**-149, np.dtype(np.float64): 2.0**-1074}
"""The smallest bound above zero, by its dtype."""


@dataclass
class Tally:
    """Sums over elements: of errors in units of the last place, and of errors as shares of the drift bounds.

    ``outward`` are shares that count as positive where they add to the magnitude; ``bounded`` counts the elements that
    have a bound, which the shares are of. ``share`` and ``hard_share`` are the largest of the drift and hard bounds.
    """

    largest: float = 0.0
    units: float = 0.0
    unit_squares: float = 0.0
    share: float = 0.0
    hard_share: float = 0.0
    bounded: int = 0
    shares: float = 0.0
    outward: float = 0.0
    squares: float = 0.0


def tallied(golden: Golden, output: np.ndarray) -> Tally | None:
    """Return the figures of an ``output`` of a float dtype; None unless all of it is as the module says."""
    found, kind = Tally(), dtype_of(golden.dtype)
    parts = (golden.value, golden.tail, golden.radius, golden.nominal, output)
    # What rounding alone makes is told from the value, and then need not be stored.
    stored = () if golden.rounded_once else (golden.drift, golden.hard)
    flat = [np.ravel(np.broadcast_to(part, output.shape)) for part in (*parts, *stored)]
    for start in range(0, output.size, _BLOCK):
        value, tail, radius, nominal, actual, *bounds = (part[start : start + _BLOCK] for part in flat)
        drift, hard = bounds or [once.bounds(value, tail, nominal, kind)] * 2
        if not _add(found, golden.dtype, value, tail, radius, drift, hard, actual):
            return None
    return found


def _add(
    found: Tally,
    dtype: str,
    value: np.ndarray,
    tail: np.ndarray,
    radius: np.ndarray,
    drift: np.ndarray,
    hard: np.ndarray,
    output: np.ndarray,
) -> bool:
    """Add the figures of a block; return whether it is ordinary."""
    if not drift.max() < np.inf:
        return False
    error = decode(output, dtype) - value
    if _stored(tail):
        error -= tail
    excess = np.abs(error)
    if _stored(radius):
        excess -= radius
    bounded = bool(drift.min() > 0)
    if not bounded and _stored(radius):
        return False
    share = hard_share = _worst(excess, hard)
    if _stored(drift):
        share = _worst(excess, drift)
    if not (share <= 1 and hard_share <= 1):
        return False
    found.share, found.hard_share = max(found.share, share), max(found.hard_share, hard_share)
    # What has no bound has no error either, once it has come this far.
    shares = np.clip(error / (drift if bounded else np.maximum(drift, _LEAST[drift.dtype])), -1.0, 1.0)
    found.bounded += drift.size if bounded else np.count_nonzero(drift > 0)
    found.shares += float(shares.sum())
    found.squares += float(np.square(shares).sum())
    found.outward += float((shares * np.sign(value)).sum())
    error /= ulp(value, dtype)
    found.largest = max(found.largest, float(error.max()), -float(error.min()))
    found.units += float(error.sum())
    found.unit_squares += float(np.square(error).sum())
    return found.unit_squares < np.inf  # nor NaN, as where one of golden and output is NaN


def _stored(part: np.ndarray) -> bool:
    """Return whether the elements of a part are stored one by one; if not, all are zero."""
    return any(part.strides)


def _worst(excess: np.ndarray, bound: np.ndarray) -> float:
    share = excess / bound
    # Nothing beyond nothing is NaN, and no matter.
    return max(float(share.max() if bound.min() > 0 else np.fmax.reduce(share)), 0.0)
