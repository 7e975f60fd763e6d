"""Certified functions of single elements: each result lies within a stated radius of the true one.

Where float64 itself is under test the results have twice its bits (:mod:`golden.expansions`). For narrower
computations one call of NumPy is enough, and much faster. NumPy says of its float64 functions that they err by at most
4 units of the last place; that is not taken on trust: before a process uses one of them, it is held against our own on
a few thousand points, and replaced by it if it errs by more than half of that.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import numpy as np

from golden import expansions
from golden.doubled import UNIT
from golden.expansions import Result

NUMPY_ERROR = 8 * UNIT
"""The radius of a NumPy function relative to its result: 4 units of the last place, each two unit roundoffs."""

CHUNK = 8192
"""Elements that are worked on at a time, so that the many temporaries stay in the cache."""

_DOUBLED: dict[str, Callable[[np.ndarray, np.ndarray | float], Result]] = {
    name: getattr(expansions, name)
    for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt")
}

_NUMPY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "sqrt")
}
"""The functions that NumPy has and that are good enough everywhere; its sine and cosine lose accuracy far from 0."""

_POINTS = 4096


def evaluate(name: str, x: np.ndarray, tail: np.ndarray | float = 0.0, *, doubled: bool) -> Result:
    """Return function ``name`` at x + tail: within the radius (an array) of value + tail.

    ``doubled`` asks for twice the bits of float64; without it the tail of the argument must be 0.0, and that of the
    result is 0. Raises ValueError for a function that is not known.
    """
    if name not in _DOUBLED:
        raise ValueError(f"unknown function {name!r}; there are {', '.join(_DOUBLED)}")
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        if not doubled and name == "rsqrt":
            value = 1 / np.sqrt(x)
            return value, np.zeros_like(x), 4 * UNIT * np.abs(_finite(value))
        if not doubled and name in _NUMPY and _is_good(name):
            value = _NUMPY[name](x)
            return value, np.zeros_like(x), NUMPY_ERROR * np.abs(_finite(value)) + 2.0**-1074
        value, low, radius = _in_chunks(_DOUBLED[name], x, tail)
        if doubled:
            return value, low, radius
        return value, np.zeros_like(x), radius + np.abs(low)


def _in_chunks(function: Callable[..., Result], x: np.ndarray, tail: np.ndarray | float) -> Result:
    flat, rest = x.reshape(-1), np.broadcast_to(tail, x.shape).reshape(-1)
    results = np.empty((3, flat.size))
    for start in range(0, flat.size, CHUNK):
        part = slice(start, start + CHUNK)
        results[:, part] = function(flat[part], rest[part])
    value, low, radius = results.reshape(3, *x.shape)
    return value, np.where(np.isfinite(value), low, 0.0), np.where(np.isfinite(value), radius, 0.0)


@functools.cache
def _is_good(name: str) -> bool:
    """Return whether this machine's NumPy errs by less than half of what it is granted; warn if not."""
    points = _check_points()
    value, low, radius = _in_chunks(_DOUBLED[name], points, 0.0)
    found = _NUMPY[name](points)
    ordinary = np.isfinite(value) & (np.abs(value) > 2.0**-1000)
    error = np.where(ordinary, np.abs((found - value) - low), 0.0)
    bad = error > NUMPY_ERROR / 2 * np.abs(value) + radius
    bad |= ~ordinary & ~((found == value) | (np.isnan(found) & np.isnan(value)) | (np.abs(found - value) <= 2.0**-1000))
    if not bad.any():
        return True
    where = int(bad.argmax())
    warnings.warn(
        f"NumPy's {name}({points[where]!r}) is {found[where]!r} instead of {value[where]!r} on this machine; golden "
        "results use their own, which is slower",
        RuntimeWarning,
        stacklevel=4,
    )
    return False


@functools.cache
def _check_points() -> np.ndarray:
    """Return points of all sizes and signs, among them such as are hard: near 0, 1, and multiples of log 2."""
    raw = np.random.Philox(key=1).random_raw(_POINTS)
    fraction = np.ldexp((raw >> np.uint64(11)).astype(np.float64), -53)
    sign = np.where(np.arange(_POINTS) % 2, 1.0, -1.0)
    wide = sign * np.ldexp(1 + fraction, np.arange(_POINTS) % 90 - 60)
    near_one = 1 + sign * np.ldexp(fraction, -(np.arange(_POINTS) % 50))
    multiples = np.arange(-1000, 1000) * 0.6931471805599453
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, 709.7, 710.0, -745.0, -746.0])
    return np.concatenate([wide, near_one, multiples, np.nextafter(multiples, np.inf), ends])


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)
