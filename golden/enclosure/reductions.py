"""Many elements into one: sums in any order of additions, of all terms or up to each, and the largest element."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np

from golden.emulation import MatrixUnit, Sums
from golden.enclosure.array import (
    UNIFORM,
    Enclosure,
    column,
    errors_in,
    left_open,
    rows,
    settled,
    shared,
)
from golden.enclosure.errors import NOISE, RADIUS, Errors, Row, rowwise
from golden.exact import cumulative as exact_cumulative
from golden.exact import quantum_exponent
from golden.exact import total as exact_total
from golden.followed import Followed
from golden.precision import Precision

_ROWS = 4  # rows that are looked at for repeated terms


def amax(x: Any, axis: int) -> Any:
    """Return the largest element along ``axis`` (kept, with length 1); NaN propagates. A selection: exact."""
    if not isinstance(x, Enclosure):
        return np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    value = np.max(x.value, axis=axis, keepdims=True, initial=-np.inf)
    if x.is_exact and type(x.tail) is float:
        return Enclosure(value, x.precision)
    # The largest of n noisy numbers is the noisiest rather than an average one, so noise counts as bias.
    errors = shared(errors_in(x, x.shape)) if not x.is_exact else column(len(x.shape))
    errors[RADIUS] = np.broadcast_to(errors.radius + np.abs(x.tail), x.shape)
    largest = errors.each(lambda row: np.max(np.broadcast_to(row, x.shape), axis=axis, keepdims=True, initial=0.0))
    return settled(value, x.precision, errors=largest, open_=np.isinf(largest.hard))


def mean(x: Any, axis: int, *, running: bool = False) -> Any:
    """Return the mean along ``axis`` (kept, with length 1): a sum and a division.

    ``running`` grants implementations that keep a running mean instead (Welford, Technometrics 4, 1962), which rounds
    even where a sum would be exact.
    """
    return total(x, axis, rounds=running) / float(np.shape(x.value if isinstance(x, Enclosure) else x)[axis])


def total(x: Any, axis: int, *, rounds: bool = False) -> Any:
    """Return the sum along ``axis`` (kept, with length 1), in any order of additions.

    The noise of terms averages out in their sum; what is systematic adds up. Where no order of additions rounds, the
    result is exact, unless the implementation ``rounds`` otherwise, as one does that keeps a running mean m, or merges
    those of like numbers of terms: m + (x - m) * (1/k) makes, beside the addition, three roundings of x - m. Over all
    k, and over the levels of a tree of merges, those differences sum to less than 2 + log2(n) times the magnitudes of
    the terms. Merging the mean of n terms into that of one, which has x - m count almost whole, rounds n times the
    terms' magnitudes three times: that is not granted, since merging the one into the many does not.
    """
    if not isinstance(x, Enclosure):
        return np.sum(x, axis=axis, keepdims=True)
    n, precision = x.shape[axis], x.precision
    value, tail, radius = exact_total(x.value, x.tail if precision.doubled else 0.0, axis)
    if sums := precision.emulated.sums:
        value, tail = sums.total(x.value, axis), np.zeros_like(value)
    magnitude = np.sum(np.abs(x.value), axis=axis, keepdims=True)
    errors, alike = errors_in(x, x.shape), repeats(x.value, axis)
    if type(errors) is not float:
        errors = summed(shared(errors) if alike else errors, x.shape, axis)
        magnitude = magnitude + errors.hard
    roundings = n + 3 * (2 + math.ceil(math.log2(max(n, 1)))) if rounds else n
    own = of_one_addition(sums, magnitude) if sums else accumulation(roundings, magnitude, precision)
    if alike:
        own = one_sided(own)
    if x.is_exact and not rounds:
        own = own * (magnitude > unrounded_below(precision, x.value))
    own = own + of_flushing(n, magnitude, precision)
    own[RADIUS] = own.radius + (radius if precision.doubled else radius + np.abs(tail))
    open_ = np.any(np.broadcast_to(left_open(x), x.shape), axis=axis, keepdims=True)
    return settled(value, precision, tail=tail if precision.doubled else 0.0, errors=errors + own, open_=open_)


def cumulative(x: Any, axis: int, *, reverse: bool = False) -> Any:
    """Return the sums up to each element along ``axis``, or from each on if ``reverse``, in any order of additions.

    A sum's roundings are part of those after it too, so they do not average out over the result.
    """
    if not isinstance(x, Enclosure):
        return _running(x, axis, reverse)
    n, precision = x.shape[axis], x.precision
    value, tail, radius = exact_cumulative(x.value, x.tail if precision.doubled else 0.0, axis, reverse=reverse)
    if sums := precision.emulated.sums:
        value, tail = sums.running(x.value, axis, reverse=reverse), np.zeros_like(value)
    magnitude, errors = _running(np.abs(x.value), axis, reverse), errors_in(x, x.shape)
    if type(errors) is not float:
        errors = shared(errors).each(lambda row: _running(np.broadcast_to(row, x.shape), axis, reverse))
        magnitude = magnitude + errors.hard
    additions = np.arange(n - 1, -1, -1) if reverse else np.arange(n)
    own = _additions(np.expand_dims(additions, tuple(range(1, value.ndim - axis % value.ndim))), magnitude, precision)
    own = one_sided(own) if repeats(x.value, axis) else shared(own)
    if sums:
        own = of_one_addition(sums, magnitude)
    if x.is_exact:
        own = own * (magnitude > unrounded_below(precision, x.value))
    own = own + of_flushing(n, magnitude, precision)
    own[RADIUS] += radius if precision.doubled else radius + np.abs(tail)
    open_ = _running(np.broadcast_to(left_open(x), x.shape).astype(np.int64), axis, reverse) > 0
    return settled(value, precision, tail=tail if precision.doubled else 0.0, errors=errors + own, open_=open_)


def _running(x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)


def _additions(n: np.ndarray, magnitude: np.ndarray, precision: Precision) -> Errors:
    """Return the errors of ``n`` additions, of terms whose magnitudes sum to ``magnitude``: see ``accumulation``."""
    unit = precision.unit
    hard = np.where(n * unit < 1, n * unit / np.maximum(1 - n * unit, unit), np.inf)
    errors = rows(magnitude.shape, hard=hard * magnitude, noise=UNIFORM * np.sqrt(n) * unit * magnitude)
    return Errors.of(np.where(magnitude > precision.largest, column(magnitude.ndim, hard=np.inf, bias=np.inf), errors))


def summed(errors: Errors, shape: tuple[int, ...], axis: int) -> Errors:
    """Return the errors of the sum along ``axis`` (kept) of terms of ``shape`` that have ``errors`` of their own."""

    def plainly(row: Row) -> Row:
        return np.sum(np.broadcast_to(row, shape), axis=axis, keepdims=True)

    sums = errors.each(plainly)
    sums[NOISE] = np.minimum(np.sqrt(plainly(np.square(errors.noise))), sums.hard)  # squares may overflow
    return sums


def accumulation(n: int, magnitude: np.ndarray, precision: Precision, *, products: bool = False) -> Errors:
    """Return the errors that adding up ``n`` terms makes whose magnitudes sum to ``magnitude``; products of two or not.

    Hard: n*u/(1 - n*u) times the magnitude (Higham 4.2, whatever the order; a product's rounding counts as one more).
    Noise: n independent roundings of partial sums, none larger than the magnitude. An accumulator that truncates
    errs to one side, so that its roundings add up. Infinite where the magnitude exceeds the accumulator's range.
    """
    hard, noise, bias = _roundings(n, precision, products)
    least = n * precision.dtype.quantum if precision.dtype and products else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        errors = rows(
            magnitude.shape,
            hard=hard * magnitude + least,
            noise=noise * magnitude,
            bias=bias * magnitude + least if bias else least,
        )
    largest = precision.largest_sum if products else precision.largest
    beyond = magnitude > largest
    if not beyond.any():
        return errors
    return rowwise(lambda row, there: np.where(beyond, there, row), errors, column(0, hard=np.inf, bias=np.inf))


def of_flushing(n: int, magnitude: np.ndarray, precision: Precision) -> Errors | float:
    """Return what a sum of ``n`` terms whose magnitudes sum to ``magnitude`` loses where subnormal numbers are flushed.

    Each term and each partial sum at most once, and of a term no more than there is of it. Float32 additions in the
    memory of a GPU do this (PTX ISA, atom: atom.add.f32 on global memory flushes subnormal inputs and results).
    """
    if not precision.flushed or not precision.dtype:
        return 0.0
    lost = np.minimum(2 * n * precision.dtype.smallest_normal, magnitude)
    return rows(magnitude.shape, hard=lost, bias=lost)


def of_one_addition(sums: Sums | MatrixUnit | Followed, magnitude: np.ndarray) -> Errors:
    """Return the errors that are left where the additions of ``sums`` are followed: of one of them.

    Machines may round the product of a step before its sum, or a sum through another format, which seldom matters.
    """
    lost = sums.unit * magnitude
    return rows(magnitude.shape, hard=lost, bias=lost)


def repeats(x: np.ndarray, axis: int) -> bool:
    """Return whether terms along ``axis`` are mostly the same few numbers, going by the first rows.

    Equal terms have equal errors, and adding the same number again and again rounds to the same side for long: the
    errors add up instead of averaging out.
    """
    rows = np.moveaxis(x, axis, -1)
    if rows.shape[-1] < 2 or not rows.size:
        return False
    some = np.stack([rows[index] for index in islice(np.ndindex(rows.shape[:-1]), _ROWS)])
    return bool(2 * np.unique(some).size < some.size)


def one_sided(errors: Errors) -> Errors:
    """Return ``errors`` of roundings that may all go to one side: a good implementation's are then as large as any."""
    return Errors(errors.rank, (errors.radius, errors.hard, 0.0, errors.hard))


def unrounded_below(precision: Precision, *factors: np.ndarray) -> float:
    """Return up to which sum of magnitudes no sum of products of ``factors`` is ever rounded.

    Where all terms are multiples of one power of two and their magnitudes sum to fewer bits than the accumulator has,
    no order of additions rounds at all: nothing but the exact result is right.
    """
    exponents = [quantum_exponent(factor) for factor in factors]
    known = [exponent for exponent in exponents if exponent is not None]
    if len(known) < len(factors):
        return np.inf  # a factor is zero, and so are all terms
    if precision.dtype and sum(known) < np.log2(precision.dtype.quantum):
        return 0.0  # finer than the subnormal numbers of the accumulator
    return min(2.0 ** min(sum(known) + precision.significand - 1, 1023), precision.largest_sum)


def _roundings(n: int, precision: Precision, products: bool) -> tuple[float, float, float]:
    """Return hard, noise and bias of ``n`` roundings, relative to the sum of magnitudes."""
    accumulator = precision.accumulator if products else None
    if accumulator is None:
        return _grown(n, precision.unit), UNIFORM * np.sqrt(n) * precision.unit, 0.0
    within = min(n, accumulator.chunk or n)
    chunks = -(-n // within) if within else 0
    outer = chunks if accumulator.chunk else 0
    hard = _grown(within, accumulator.unit) + 2 * _grown(outer, precision.unit)
    noise = UNIFORM * (np.sqrt(within) * accumulator.unit + np.sqrt(outer) * precision.unit)
    return hard, noise, hard if accumulator.mode == "truncated" else 0.0


def _grown(n: int, unit: float) -> float:
    return n * unit / (1 - n * unit) if n * unit < 1 else np.inf
