"""The judge: one output held against its golden result.

:func:`seal` makes the golden result of an enclosure by adding the rounding into the output's dtype; :func:`judge`
compares. Integers and everything else without a bound must be equal bit for bit.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.dtypes import DType, decode, dtype_of, encode, ulp
from golden.enclosure import Enclosure

EXACT, WITHIN, DRIFT, WRONG = "exact", "within", "drift", "wrong"


@dataclass(frozen=True)
class Golden:
    """The golden result of a case: what is right, and how far from it an output may be.

    ``value + tail`` is within ``radius`` of the true result; ``hard`` and ``drift`` are the bounds of
    :mod:`golden.enclosure` plus one rounding into ``dtype``; ``nominal`` is the value rounded once into storage.
    For an integer dtype ``value`` is int64 and everything else is nothing. Open elements have an infinite ``hard``.
    """

    dtype: str
    value: np.ndarray
    tail: np.ndarray | float
    radius: np.ndarray | float
    hard: np.ndarray
    drift: np.ndarray
    nominal: np.ndarray

    @property
    def open(self) -> int:
        """How many elements the contract leaves open."""
        return int(np.isinf(self.hard).sum())

    @property
    def nbytes(self) -> int:
        return sum(getattr(part, "nbytes", 0) for part in vars(self).values())

    @functools.cached_property
    def own_verdict(self) -> Verdict:
        """The verdict on ``nominal`` itself, which most outputs of most kernels are."""
        return _compare(self, self.nominal)


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one output.

    ``max_ulp``, ``rms_ulp`` and ``bias_ulp`` are errors in units of the last place of the golden value (largest, root
    mean square, signed mean); ``share`` is the largest error over its drift bound and ``hard_share`` over its hard
    bound, each after the golden radius is granted. ``detail`` says where the worst element is and what it is.
    """

    status: str
    elements: int
    open: int = 0
    max_ulp: float | None = None
    share: float | None = None
    hard_share: float | None = None
    rms_ulp: float | None = None
    bias_ulp: float | None = None
    detail: str = ""

    @property
    def passes(self) -> bool:
        return self.status in (EXACT, WITHIN)


def seal(result: Enclosure | np.ndarray, dtype: str) -> Golden:
    """Return the golden result: ``result``, with a rounding into ``dtype`` unless it was computed in that precision."""
    kind = dtype_of(dtype)
    if not isinstance(result, Enclosure):
        result = np.asarray(result)  # NumPy's arithmetic makes scalars of arrays of rank 0
        nothing = np.zeros(result.shape)
        return Golden(dtype, result, 0.0, 0.0, nothing, nothing, encode(result, dtype))
    value, precision = np.asarray(result.value), result.precision
    nominal = encode(value, dtype)
    # A value that the dtype can hold is stored as it is; only what is still inexact may round once more.
    held = (decode(nominal, dtype) == value) & (np.asarray(result.tail) == 0)
    narrower = precision.dtype is None or kind.unit > precision.unit or kind.emin > precision.dtype.emin

    def stored(bound: np.ndarray | float) -> np.ndarray:
        rounds = np.where(np.asarray(bound) == 0, ~held, narrower) & np.isfinite(value)
        reach = np.abs(value) + np.where(np.isfinite(bound), bound, 0.0)
        return bound + np.where(rounds, ulp(reach, dtype) / 2, 0.0)

    with np.errstate(all="ignore"):
        return Golden(dtype, value, result.tail, result.radius, stored(result.hard), stored(result.drift), nominal)


def judge(golden: Golden, output: np.ndarray) -> Verdict:
    """Return the verdict on ``output``, storage of golden's dtype and shape; raises ValueError for any other."""
    if output.shape != golden.nominal.shape or output.dtype != golden.nominal.dtype:
        raise ValueError(
            f"the output is {output.dtype}{list(output.shape)}, and golden {golden.nominal.dtype}"
            f"{list(golden.nominal.shape)}: hold the shape and dtype against the contract first"
        )
    if np.array_equal(_bits(output), _bits(golden.nominal)):
        return golden.own_verdict
    return _compare(golden, output)


def _bits(storage: np.ndarray) -> np.ndarray:
    return storage.view(f"i{storage.itemsize}")


def _compare(golden: Golden, output: np.ndarray) -> Verdict:
    if output.size == 0:
        return Verdict(EXACT, 0)
    with np.errstate(all="ignore"):
        return _judge_floats(golden, output) if dtype_of(golden.dtype).is_float else _judge_integers(golden, output)


def _judge_integers(golden: Golden, output: np.ndarray) -> Verdict:
    wrong = output != golden.nominal
    if not wrong.any():
        return Verdict(EXACT, output.size, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
    error = output.astype(np.float64) - golden.nominal.astype(np.float64)
    worst = int(np.abs(error).argmax())
    rms, bias = _moments(error)
    detail = _describe(golden, output, worst, int(wrong.sum()))
    return Verdict(WRONG, output.size, 0, float(np.abs(error).max()), np.inf, np.inf, rms, bias, detail)


def _judge_floats(golden: Golden, output: np.ndarray) -> Verdict:
    dtype, actual = dtype_of(golden.dtype), decode(output, golden.dtype)
    error = _error(golden, actual, dtype)
    judged = ~np.isinf(golden.hard)
    # The radius is granted, less a hair so that a share of exactly 1 stays 1 after rounding.
    excess = np.maximum(np.abs(error) - golden.radius, 0.0)
    share, hard_share = _worst_share(excess, golden.drift, judged), _worst_share(excess, golden.hard, judged)
    units = np.where(judged, error / ulp(golden.value, golden.dtype), 0.0)
    opened = output.size - int(judged.sum())
    status = WITHIN if share <= 1 else DRIFT if hard_share <= 1 else WRONG
    if status == WITHIN and _same(output, golden, actual)[judged].all():
        status = EXACT
    rms, bias = _moments(units)
    detail = ""
    if status in (DRIFT, WRONG):
        bound = golden.hard if status == WRONG else golden.drift
        beyond = judged & ((excess > bound) | np.isnan(excess))
        ranked = np.where(beyond, np.where(np.isfinite(error), np.abs(error) / np.maximum(bound, 5e-324), np.inf), -1.0)
        detail = _describe(golden, output, int(ranked.argmax()), int(beyond.sum()))
    return Verdict(status, output.size, opened, float(np.abs(units).max()), share, hard_share, rms, bias, detail)


def _error(golden: Golden, actual: np.ndarray, dtype: DType) -> np.ndarray:
    """Return output minus golden; infinite where one is NaN or infinite and the other is not the same.

    An infinity that golden's rounding into the dtype reaches counts as the threshold beyond which values round to it,
    so that overflow is judged by the same bounds as everything else.
    """
    threshold = dtype.largest + 2.0 ** (dtype.emax - dtype.precision)
    finite = np.isfinite(golden.value)
    error = (actual - golden.value) - golden.tail
    overflowed = finite & np.isinf(actual)
    short = np.maximum(threshold - golden.value * np.sign(actual), 0.0) * np.sign(actual)
    error = np.where(overflowed, np.where(short == 0, 0.0, short), error)
    same = (np.isnan(actual) & np.isnan(golden.value)) | (actual == golden.value)
    return np.where(same & ~finite, 0.0, np.where(np.isnan(error) | (~finite & ~same), np.inf, error))


def _worst_share(excess: np.ndarray, bound: np.ndarray, judged: np.ndarray) -> float:
    share = np.where(excess == 0, 0.0, excess / bound)
    return float(np.max(share, initial=0.0, where=judged))


def _same(output: np.ndarray, golden: Golden, actual: np.ndarray) -> np.ndarray:
    """Where the output is the rounded golden value: the same bits, or any NaN for a NaN and either zero for a zero."""
    nominal = decode(golden.nominal, golden.dtype)
    return (output == golden.nominal) | (actual == nominal) | (np.isnan(actual) & np.isnan(nominal))


def _moments(units: np.ndarray) -> tuple[float, float]:
    if not np.isfinite(units).all():
        return np.inf, float(np.mean(np.clip(np.nan_to_num(units), -1e300, 1e300))) if np.isfinite(units).any() else 0.0
    return float(np.sqrt(np.mean(np.square(units)))), float(np.mean(units))


def _describe(golden: Golden, output: np.ndarray, flat: int, count: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(flat, output.shape))
    got: Any = decode(output, golden.dtype)[index]
    want: Any = decode(golden.nominal, golden.dtype)[index]
    return f"{count} of {output.size} elements, worst at {list(index)}: {got:.9g} instead of {want:.9g}"
