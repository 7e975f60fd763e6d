"""Machines of known make, on which probes are proven: every property that a profile asks for is chosen.

Nothing here is shared with the probes: numbers are rounded by the bits of float64, after sums that were rounded to odd,
so that a second rounding does no harm.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from golden import functions as certified
from golden.doubled import divide, two_product, two_sum
from golden.dtypes import decode, dtype_of, encode, ulp
from golden.rounding import round_significand
from platforms.profile.machine import Machine
from platforms.profile.trees import Tree, leaves

_CLOSEST = {"nearest even": "nearest", "nearest away": "away", "toward zero": "truncated"}


@dataclass(frozen=True)
class Accumulation:
    """How a sum is added up: in which order, in how many bits, rounded how; products rounded first or not.

    Where the tree adds more than two terms at once, they are first cut to multiples of 2**-``aligned`` times the power
    of two at or below the largest of them. Sums of more than ``chunk`` terms are ``wide``, bits and mode.
    """

    tree: Tree
    bits: int = 24
    mode: str = "nearest even"
    fused: bool = True
    aligned: int = 24
    largest: float = np.inf
    chunk: int = 2**10
    wide: tuple[int, str] = (24, "nearest even")

    def held(self, terms: int) -> tuple[int, str]:
        """Return the bits and the mode of a sum of so many terms."""
        return (self.bits, self.mode) if terms <= self.chunk else self.wide


@dataclass(frozen=True)
class Simulated(Machine):
    """A machine whose arithmetic is as its fields say; what they do not mention is IEEE 754's.

    Attributes:
        flushes: dtypes whose subnormal numbers are zero, by ``"operands"`` and ``"results"``.
        direction: the direction of rounding of arithmetic and of conversions, by those names.
        overflow: what a conversion makes of numbers beyond the range: ``"an infinity"`` or ``"the largest number"``.
        contracted: a * b + c has one rounding.
        off: by how many ULP a function, or ``"divide"``, is off.
        accumulation: how sums and products are added up, by ``"sums"`` and ``"products"``.
        operands: bits and mode that operands of products are rounded to; None for as they are.
        parts: in how many numbers of so many bits an operand is taken.
        integer: what becomes of floats beyond an integer's range: ``"saturates"``, ``"wraps around"`` or
            ``"the least integer"``.
        with_nan: what maximum and minimum make of one NaN.
        floors: integer division rounds down; else toward zero.
    """

    name: str = "simulated"
    flushes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    direction: Mapping[str, str] = field(default_factory=dict)
    overflow: str = "an infinity"
    contracted: bool = False
    off: Mapping[str, int] = field(default_factory=dict)
    accumulation: Mapping[str, Accumulation] = field(default_factory=dict)
    operands: tuple[int, str] | None = None
    parts: int = 1
    integer: str = "saturates"
    with_nan: str = "NaN"
    floors: bool = True

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        if not dtype_of(dtype).is_float:
            return self._of_integers(function, dtype, *operands)
        operands = tuple(self._flushed("operands", x, dtype) for x in operands)
        with np.errstate(all="ignore"):
            return self._flushed("results", self._floats(function, dtype, *operands), dtype)

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        kind = dtype_of(target)
        if not kind.is_float:
            return self._integer(x, target)
        mode = self.direction.get("conversions", "nearest even")
        result = _rounded(x.astype(np.float64), np.zeros(x.shape), target, mode)
        beyond = np.abs(x) > kind.largest if self.overflow == "the largest number" else np.isinf(x)
        end = kind.largest if self.overflow == "the largest number" else np.inf if kind.infinity else np.nan
        result = np.where(np.isinf(result) | beyond, np.copysign(end, x), result)
        return self._flushed("results", result, target)

    def sums(self, x: np.ndarray, dtype: str) -> np.ndarray:
        if "sums" not in self.accumulation:
            return super().sums(x, dtype)
        made = self.accumulation["sums"]
        total = _added(made.tree, self._flushed("operands", x, dtype), np.zeros(x.shape), made)
        return self._flushed("results", decode(encode(total, dtype), dtype), dtype)

    def product(self, a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
        if "products" not in self.accumulation:
            return super().product(a, b, dtype)
        made = self.accumulation["products"]
        a, b = (self._flushed("operands", x, dtype) for x in (a, b))
        if self.operands:
            a, b = (_in_parts(x, *self.operands, self.parts) for x in (a, b))
        if len(np.unique(a, axis=0)) < len(np.unique(b, axis=1).T):
            return self._product(b.T, a.T, dtype, made).T
        return self._product(a, b, dtype, made)

    def _product(self, a: np.ndarray, b: np.ndarray, dtype: str, made: Accumulation) -> np.ndarray:
        result = np.empty((a.shape[0], b.shape[1]))
        # Columns that are the same have the same products.
        columns, which = np.unique(b, axis=1, return_inverse=True)
        for number, column in enumerate(columns.T):
            terms, rest = two_product(a, np.broadcast_to(column, a.shape))
            if not made.fused:
                terms, rest = _to_bits(terms, rest, made.bits, made.mode), np.zeros_like(rest)
            total = _added(_within(made.tree, a.shape[1]), terms, rest, made)
            result[:, which.reshape(-1) == number] = decode(encode(total, dtype), dtype)[:, None]
        return self._flushed("results", result, dtype)

    def _floats(self, function: str, dtype: str, *x: np.ndarray) -> np.ndarray:
        mode = self.direction.get("arithmetic", "nearest even")
        zero = np.zeros(x[0].shape)
        if function in ("add", "subtract"):
            value, tail = two_sum(x[0], x[1] if function == "add" else -x[1])
        elif function == "multiply":
            value, tail = two_product(x[0], x[1])
            value, tail = np.where(np.abs(value) < 2.0**-900, x[0] * x[1], value), np.where(np.isfinite(tail), tail, 0)
        elif function == "multiply_add":
            value, tail = two_product(x[0], x[1])
            if not self.contracted:
                value, tail = _rounded(value, tail, dtype, mode), zero
            value, error = two_sum(value, x[2])
            value, tail = two_sum(value, error + tail)  # exact where nearly everything cancels
        elif function in ("maximum", "minimum"):
            return self._chosen(function, *x)
        elif function == "divide":
            value, tail = divide((x[0], zero), (x[1], zero))
            tail = np.where(np.isfinite(tail), tail, 0)
        else:
            value, tail, _ = certified.evaluate(function, x[0], doubled=True)
        result = _rounded(value, tail, dtype, mode)
        off = self.off.get(function, 0)
        return result + off * np.where(np.arange(result.size) % 3, 1, -1) * ulp(result, dtype) if off else result

    def _chosen(self, function: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        larger = np.maximum(a, b) if function == "maximum" else np.minimum(a, b)
        if self.with_nan == "the number":
            return np.fmax(a, b) if function == "maximum" else np.fmin(a, b)
        operand = {"the first operand": a, "the second operand": b}.get(self.with_nan, larger)
        return np.where(np.isnan(a) | np.isnan(b), operand, larger)

    def _of_integers(self, function: str, dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        quotient = a // b if function in ("floor_divide", "remainder") else a
        if not self.floors and function in ("floor_divide", "remainder"):
            quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
        width = 8 * dtype_of(dtype).itemsize
        if function == "shift_left":
            return np.array([int(x) << int(n) if n < width else 0 for x, n in zip(a, b, strict=True)])
        if function == "shift_right":
            return np.array([int(x) >> int(n) for x, n in zip(a, b, strict=True)])
        return quotient if function == "floor_divide" else a - quotient * b

    def _integer(self, x: np.ndarray, target: str) -> np.ndarray:
        ends = np.iinfo(dtype_of(target).storage)
        inside = (x >= float(ends.min)) & (x < float(ends.max) + 1)
        whole = np.where(inside, np.trunc(x), 0).astype(np.int64)
        if self.integer == "wraps around":
            dtype = dtype_of(target).storage
            return (
                np.array([0 if np.isnan(one) else int(one) % 2 ** (8 * dtype.itemsize) for one in x], object)
                .astype(f"u{dtype.itemsize}")
                .view(dtype)
                .astype(np.int64)
            )
        end = np.where(x > 0, ends.max, ends.min) if self.integer == "saturates" else np.full(x.shape, ends.min)
        return np.where(inside, whole, np.where(np.isnan(x) & (self.integer == "saturates"), 0, end))

    def _flushed(self, which: str, x: np.ndarray, dtype: str) -> np.ndarray:
        tiny = np.abs(x) < dtype_of(dtype).smallest_normal
        return np.where(tiny, np.copysign(0.0, x), x) if dtype in self.flushes.get(which, ()) else x


def _within(tree: Tree, n: int) -> Tree:
    """Return ``tree`` as it is for the first ``n`` terms, or with more of them after its own."""
    known = leaves(tree)
    if n <= len(known):
        return _pruned(tree, n)
    return functools.reduce(lambda total, term: (total, term), range(len(known), n), tree)


def _pruned(tree: Tree, n: int) -> Tree:
    if isinstance(tree, int):
        return tree
    kept = tuple(_pruned(child, n) for child in tree if any(leaf < n for leaf in leaves(child)))
    return kept[0] if len(kept) == 1 else kept


def _added(tree: Tree, terms: np.ndarray, rest: np.ndarray, made: Accumulation) -> np.ndarray:
    return _part(_within(tree, terms.shape[-1]), terms, rest, made)[0]


def _part(tree: Tree, terms: np.ndarray, rest: np.ndarray, made: Accumulation) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(tree, int):
        return terms[:, tree], rest[:, tree]
    parts = [_part(child, terms, rest, made) for child in tree]
    if len(parts) == 2:
        (a, a_rest), (b, b_rest) = parts
        total, error = two_sum(a, b)
        error = error + (a_rest + b_rest)
    else:
        together = np.stack([value for value, _ in parts])
        _, exponent = np.frexp(np.abs(together).max(0))
        unit = np.ldexp(1.0, exponent - 1 - made.aligned)
        total, error = (np.trunc(together / unit) * unit).sum(0), np.zeros(together.shape[1])
    result = _to_bits(total, error, *made.held(len(leaves(tree))))
    result = np.where(np.abs(result) > made.largest, np.copysign(np.inf, result), result)
    return result, np.zeros(result.shape)


def _in_parts(x: np.ndarray, bits: int, mode: str, parts: int) -> np.ndarray:
    if not parts:
        return np.zeros(x.shape)
    part = _to_bits(x, np.zeros(x.shape), bits, mode)
    return part + _in_parts(x - part, bits, mode, parts - 1)


def _rounded(value: np.ndarray, tail: np.ndarray, dtype: str, mode: str) -> np.ndarray:
    """Return value + tail rounded once to ``dtype``; beyond its range an infinity."""
    kind = dtype_of(dtype)
    if dtype == "float64":
        return _to_bits(value, tail, 53, mode)
    result = _to_bits(value, tail, kind.precision, mode)
    tiny = np.abs(value) < kind.smallest_normal
    # Adding a power of two puts the last place where the spacing of subnormal numbers is.
    lift = np.copysign(kind.smallest_normal, value)
    low = _to_bits(*two_sum(value, lift), kind.precision, mode) - lift
    result = np.where(tiny, np.copysign(low, value), result)
    return np.where(np.abs(result) > kind.largest, np.copysign(np.inf, result), result)


def _to_bits(value: np.ndarray, tail: np.ndarray, bits: int, mode: str) -> np.ndarray:
    """Return value + tail, of which the value is the nearest float64, rounded to ``bits`` in direction ``mode``."""
    if bits == 53 and mode == "nearest even":
        return value + tail
    if bits == 53 and mode == "nearest away":
        outward = (np.abs(tail) * 2 == np.spacing(np.abs(value))) & (np.signbit(tail) == np.signbit(value))
        return np.where(outward, np.nextafter(value, np.copysign(np.inf, value)), value)
    inward = (tail != 0) & (np.signbit(tail) != np.signbit(value))
    cut = np.where(inward, np.nextafter(value, 0), value)  # toward zero
    if bits == 53:
        return _outward(cut, tail != 0, cut, mode, 53)
    odd = np.where(tail != 0, (cut.view(np.int64) | 1).view(np.float64), cut)
    if mode in _CLOSEST:
        return round_significand(odd, bits, _CLOSEST[mode])
    cut = round_significand(odd, bits, "truncated")
    return _outward(cut, cut != odd, odd, mode, bits)


def _outward(cut: np.ndarray, lost: np.ndarray, value: np.ndarray, mode: str, bits: int) -> np.ndarray:
    grows = {"upward": value > 0, "downward": value < 0, "away from zero": True, "toward zero": False}[mode]
    unit = np.ldexp(1.0, np.frexp(cut)[1] - bits)
    return np.where(lost & np.isfinite(cut) & grows, cut + np.copysign(unit, value), cut)
