"""Certified functions of single elements: each result lies within a stated radius of the true one.

Where float64 itself is under test the results have twice its bits (:mod:`golden.doubled_functions`). For narrower
computations one call of NumPy is enough, and much faster. NumPy says of its float64 functions that they err by at most
4 units of the last place; that is not taken on trust: before a process uses one of them, it is held against our own on
a few thousand points, and replaced by it if it errs by more than half of what is granted.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from golden import doubled_functions
from golden.doubled import UNIT, two_sum
from golden.doubled_functions import LEAST, Result

CHUNK = 8192
"""Elements that are worked on at a time, so that the many temporaries stay in the cache."""

_DOUBLED: dict[str, Callable[[np.ndarray, np.ndarray], Result]] = {
    name: getattr(doubled_functions, name)
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "sigmoid"),
        *("erf", "erfc", "sin", "cos", "sqrt", "rsqrt", "reciprocal"),
    )
}


@dataclass(frozen=True)
class Single:
    """A function in float64, written to its second argument, and what it may err by in unit roundoffs of its result.

    ``granted`` is what the radius says, ``found`` what a machine may show. ``underflow`` is what a result that
    underflows errs by besides, in units of 2**-1074.
    """

    function: Callable[[np.ndarray, np.ndarray], object]
    granted: float = 8.0
    found: float = 4.0
    underflow: float = 1.0


def _sigmoid(x: np.ndarray, out: np.ndarray) -> None:
    small = np.exp(-np.abs(x))
    np.divide(np.where(x < 0, small, 1.0), 1.0 + small, out)


# NumPy's functions are looked up when they are called: one that is replaced is tried, and not used, as it is then.
_SINGLE: dict[str, Single] = {
    "exp": Single(lambda x, out: np.exp(x, out)),
    "exp2": Single(lambda x, out: np.exp2(x, out)),
    "expm1": Single(lambda x, out: np.expm1(x, out)),
    "log": Single(lambda x, out: np.log(x, out)),
    "log2": Single(lambda x, out: np.log2(x, out)),
    "log1p": Single(lambda x, out: np.log1p(x, out)),
    "tanh": Single(lambda x, out: np.tanh(x, out)),
    # One of those, a sum and a quotient: 8 + 1 + 1, and terms of higher order.
    "sigmoid": Single(_sigmoid, 10.1, 5.0, 2.0),
    # IEEE 754 has these two rounded correctly; the third is made of them.
    "sqrt": Single(lambda x, out: np.sqrt(x, out), 1.0, 1.0),
    "reciprocal": Single(lambda x, out: np.divide(1.0, x, out), 1.0, 1.0),
    "rsqrt": Single(lambda x, out: np.divide(1.0, np.sqrt(x), out), 2.1, 2.1),
}
"""The functions that NumPy has and that are good enough everywhere; its sine and cosine lose accuracy far from 0."""

_POINTS = 512
"""Points drawn of each kind that NumPy's functions are tried at."""


def evaluate(name: str, x: np.ndarray, tail: np.ndarray | float = 0.0, *, doubled: bool) -> Result:
    """Return function ``name`` at x + tail: value, tail and radius, float64 arrays of the shape of ``x``.

    The true result is no further from value + tail than the radius; where it is beyond float64's range, or not a
    number, the value says so and tail and radius are 0. ``doubled`` asks for twice the bits of float64. Without it
    the tail of the result is 0, and that of the argument must be. Raises ValueError for a function that is not known
    and for an argument with a tail that is not asked to be ``doubled``.
    """
    if name not in _DOUBLED:
        raise ValueError(f"unknown function {name!r}; there are {', '.join(_DOUBLED)}")
    if not doubled and np.any(tail):
        raise ValueError(f"{name} of an argument with a tail must be doubled")
    shape = np.shape(x)
    flat = np.ascontiguousarray(x, np.float64).reshape(-1)
    with np.errstate(all="ignore"):
        if not doubled and name in _SINGLE and _is_good(name):
            results = _singly(_SINGLE[name], flat)
        elif doubled:
            results = _doubly(name, flat, np.broadcast_to(tail, shape).reshape(-1))
        else:
            value, low, radius = _doubly(name, flat, np.zeros_like(flat))
            results = value, np.zeros_like(flat), radius + np.abs(low)
    value, low, radius = (part.reshape(shape) for part in results)
    return value, low, radius


def _doubly(name: str, x: np.ndarray, tail: np.ndarray) -> Result:
    _keep_freed_memory()
    exact = not tail.any()
    results = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    for part in _chunks(x.size):
        argument = (x[part], tail[part]) if exact else _normalized(x[part], tail[part])
        value, low, radius = _DOUBLED[name](*argument)
        if not radius.max() < np.inf:  # nor NaN
            finite = np.isfinite(value)
            low, radius = np.where(finite, low, 0.0), np.where(finite, radius, 0.0)
        for whole, one in zip(results, (value, low, radius), strict=True):
            whole[part] = one
    return results


def _singly(single: Single, x: np.ndarray) -> Result:
    values, radii = np.empty(x.size), np.empty(x.size)
    for part in _chunks(x.size):
        value, radius = values[part], radii[part]
        single.function(x[part], value)
        np.abs(value, radius)
        radius *= single.granted * UNIT
        radius += single.underflow * LEAST
        if not radius.max() < np.inf:  # nor NaN
            radius[~np.isfinite(value)] = 0.0
    return values, np.zeros(x.size), radii


def _chunks(size: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, size, CHUNK))


@functools.cache
def _keep_freed_memory() -> None:
    """Let the C library keep what is freed, instead of giving it back to the system for every few temporaries.

    Glibc does so once a large block has been freed (mallopt(3), M_MMAP_THRESHOLD). Without, page faults take longer
    than the arithmetic.
    """
    np.empty(2**20)


def _normalized(x: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x + tail as its rounded sum and the rest; an argument without tail keeps its sign, if it is zero."""
    total, rest = two_sum(x, tail)
    alone = (tail == 0) | np.isinf(x)
    return np.where(alone, x, total), np.where(alone, 0.0, rest)


@functools.cache
def _is_good(name: str) -> bool:
    """Return whether this machine's NumPy errs no more than it may at the points that are tried; warn if it does."""
    single, points = _SINGLE[name], _check_points()
    value, low, radius = _doubly(name, points, np.zeros_like(points))
    found = np.empty_like(points)
    single.function(points, found)
    allowed = single.found * UNIT * np.abs(value) + single.underflow * LEAST + radius
    same = (found == value) | (np.isnan(found) & np.isnan(value))
    good = same | (np.isfinite(value) & (np.abs((found - value) - low) <= allowed))
    if good.all():
        return True
    where = int(good.argmin())
    point, wrong, right, most = (float(numbers[where]) for numbers in (points, found, value, allowed))
    warnings.warn(
        f"NumPy's {name}({point!r}) is {wrong!r} instead of {right!r} on this machine, an error of "
        f"{abs(wrong - right):.3g} where {most:.3g} is allowed; golden results use their own, which is slower",
        RuntimeWarning,
        stacklevel=3,
    )
    return False


@functools.cache
def _check_points() -> np.ndarray:
    """Return points of all sizes and signs, among them such as are hard: near 0, 1, and multiples of log 2."""
    raw = np.random.Philox(key=1).random_raw(_POINTS)
    fraction = np.ldexp((raw >> np.uint64(11)).astype(np.float64), -53)
    number = np.arange(_POINTS)
    sign = np.where(number % 2, 1.0, -1.0)
    ordinary = sign * fraction * 745
    wide = sign * np.ldexp(1 + fraction, number % 90 - 60)
    extreme = sign * np.ldexp(1 + fraction, 4 * number - 1074)
    near_one = 1 + sign * np.ldexp(fraction, -(number % 50))
    multiples = np.arange(-1074, 1025, 2) * 0.6931471805599453
    ends = np.array(
        [0.0, np.inf, np.nan, 1.7e308, 5e-324, 2.2250738585072014e-308, 709.782712893384, 745.1332191019411]
    )
    hard = np.concatenate([multiples, np.nextafter(multiples, np.inf), np.arange(-1075.0, 1025.0, 2), ends, -ends])
    return np.concatenate([ordinary, wide, extreme, near_one, hard])
