"""The judge: one output held against its golden result.

:func:`seal` makes the golden result of an enclosure by adding the rounding into the output's dtype; :func:`judge`
compares. Integers and everything else without a bound must be equal bit for bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from golden import once
from golden.doubled import two_sum
from golden.dtypes import DType, decode, dtype_of, encode, ulp
from golden.enclosure.array import PROBABLE, UNIFORM, Enclosure
from golden.enclosure.elementwise import followed
from golden.moments import LEAST, Moments, moments, moments_of_sums
from golden.tally import tallied

EXACT, WITHIN, DRIFT, WRONG = "exact", "within", "drift", "wrong"


@dataclass(frozen=True)
class Golden:
    """The golden result of a case: what is right, and how far from it an output may be.

    ``value + tail`` is within ``radius`` of the true result; ``hard`` and ``drift`` are the bounds of
    :mod:`golden.enclosure.array` plus one rounding into ``dtype``; ``nominal`` is the value rounded once into storage.
    ``noise`` and ``bias`` are shares of the drift bound: the root mean square error that a good implementation has at
    most, and its mean error. For an integer dtype ``value`` is int64, and the bounds are whole numbers, mostly 0. Open
    elements have an infinite ``hard``. Elements that are equal in one of the arrays ``shared``, which broadcast to the
    result, were computed from one operand, so that their errors are no independent ones.
    """

    dtype: str
    value: np.ndarray
    tail: np.ndarray | float
    radius: np.ndarray | float
    hard: np.ndarray
    drift: np.ndarray
    nominal: np.ndarray
    noise: float = 1.0
    bias: float = 1.0
    shared: tuple[np.ndarray, ...] = ()

    rounded_once: ClassVar[bool] = False
    """Whether the bounds are those of one rounding of the exact value, :func:`golden.once.bounds`."""

    @property
    def open(self) -> int:
        """How many elements the contract leaves open."""
        return int(np.isinf(self.hard).sum())

    @property
    def nbytes(self) -> int:
        return sum(getattr(part, "nbytes", 0) for part in vars(self).values())

    def certain(self, margin: float = 1.0) -> np.ndarray:
        """Return where every number within ``margin`` radii of value + tail rounds to ``nominal``, as booleans."""
        if not dtype_of(self.dtype).is_float:
            return np.broadcast_to(margin * np.asarray(self.radius) < 0.5, self.value.shape)
        with np.errstate(all="ignore"):
            return _certain(self, margin)

    def sharing(self, operands: tuple[np.ndarray, ...]) -> Golden:
        """Return the same with these as the arrays ``shared``."""
        return replace(self, shared=operands)

    @functools.cached_property
    def own_verdict(self) -> Verdict:
        """The verdict on ``nominal`` itself, which most outputs of most kernels are."""
        return _compare(self, self.nominal)


class RoundedOnce(Golden):
    """The golden result of an exact computation, whose bounds follow from the value: made when they are asked for.

    ``value + tail`` is the true result, and ``nominal`` that in storage, which is all that most outputs are held to.
    """

    rounded_once: ClassVar[bool] = True

    def __init__(
        self,
        dtype: str,
        value: np.ndarray,
        tail: np.ndarray | float,
        nominal: np.ndarray,
        operands: tuple[np.ndarray, ...] = (),
    ) -> None:
        given = {"dtype": dtype, "value": value, "tail": tail, "radius": 0.0, "nominal": nominal, "bias": 0.0}
        vars(self).update(given, shared=operands)

    def sharing(self, operands: tuple[np.ndarray, ...]) -> Golden:
        return RoundedOnce(self.dtype, self.value, self.tail, self.nominal, operands)

    @functools.cached_property
    def hard(self) -> np.ndarray:
        return once.bounds(self.value, self.tail, self.nominal, dtype_of(self.dtype))

    @functools.cached_property
    def drift(self) -> np.ndarray:
        return self.hard

    @functools.cached_property
    def noise(self) -> float:
        return UNIFORM if np.any(self.hard) else 0.0


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one output.

    ``max_ulp``, ``rms_ulp`` and ``bias_ulp`` are errors in units of the last place of the golden value (largest, root
    mean square, signed mean); ``share`` is the largest error over its drift bound and ``hard_share`` over its hard
    bound, each after the golden radius is granted. ``rms_share`` is the root mean square error over the one predicted,
    and ``deviations`` how many standard deviations the mean error is beyond what a good implementation may have, with
    the sign of the mean; None where there are too few elements to tell. ``detail`` says where the worst element is and
    what it is, or what the errors have in common.
    """

    status: str
    elements: int
    open: int = 0
    max_ulp: float | None = None
    share: float | None = None
    hard_share: float | None = None
    rms_ulp: float | None = None
    bias_ulp: float | None = None
    rms_share: float | None = None
    deviations: float | None = None
    detail: str = ""

    @property
    def passes(self) -> bool:
        return self.status in (EXACT, WITHIN)


def seal(result: Enclosure | np.ndarray, dtype: str) -> Golden:
    """Return the golden result: ``result``, with a rounding into ``dtype`` unless it was computed in that precision."""
    kind = dtype_of(dtype)
    with np.errstate(all="ignore"):
        if not isinstance(result, Enclosure):
            return _sealed_as_is(result, kind)
        if not kind.is_float:
            return _sealed_whole(result, kind)
        stored = result.precision.emulated.result
        return _sealed_as_stored(result, kind) if stored else _sealed(result, kind)


def _sealed_as_is(result: np.ndarray, kind: DType) -> Golden:
    """Return the golden result of a plain array: nothing else is right, but where a masked one is masked."""
    value = np.asarray(np.ma.getdata(result))  # NumPy's arithmetic makes scalars of arrays of rank 0
    bound = np.where(np.ma.getmaskarray(result), np.inf, 0.0) if np.ma.isMaskedArray(result) else np.zeros(value.shape)
    return Golden(kind.name, value, 0.0, 0.0, bound, bound, encode(value, kind.name), 0.0, 0.0)


def _sealed_as_stored(result: Enclosure, kind: DType) -> Golden:
    """Return the golden result where the last roundings are known, so that nothing is left to round."""
    for rounding in result.precision.emulated.result:
        result = followed(result, rounding)
    value = np.asarray(result.value)
    hard = np.broadcast_to(result.hard, value.shape)
    return Golden(kind.name, value, 0.0, result.radius, hard, hard, encode(value, kind.name), 0.0, 0.0)


def _sealed_whole(result: Enclosure, kind: DType) -> Golden:
    """Return the golden result of an enclosure of whole numbers; what is none (NaN, an infinity) is open."""
    shape, finite = result.shape, np.isfinite(result.value)
    value = np.rint(np.where(finite, result.value, 0.0)).astype(np.int64)
    hard, drift, radius = (
        np.where(finite, np.broadcast_to(bound, shape), np.inf) for bound in (result.hard, result.drift, result.radius)
    )
    return Golden(kind.name, value, 0.0, radius, np.floor(hard), np.floor(drift), encode(value, kind.name), 0.0, 0.0)


def _sealed(result: Enclosure, kind: DType) -> Golden:
    (value, tail), precision = _halves(result), result.precision
    nominal = value if kind.name == "float64" else encode(_sticky(value, tail, kind), kind.name)
    if result.is_exact:
        return RoundedOnce(kind.name, value, tail, nominal)
    narrower = precision.dtype is None or kind.unit > precision.unit or kind.emin > precision.dtype.emin
    hard, bias, noise = result.hard, result.bias, result.noise
    biased = bias is hard and type(noise) is float and noise == 0
    hard = np.broadcast_to(hard, value.shape)
    # A value that the dtype can hold is stored as it is; only what is still inexact may round once more.
    computed = np.asarray(hard != 0)
    rounds = computed & np.isfinite(value) if narrower else False
    if not computed.all():
        rounds |= ~computed & once.inexact(value, tail, nominal, kind)
    last = _last_rounding(value, hard, kind, rounds) if np.any(rounds) else 0.0
    drift = (hard if biased else np.minimum(hard, bias + PROBABLE * noise)) + last
    hard = drift if biased else hard + last
    figures = _figures(drift, bias, noise + UNIFORM * last)
    radius = result.radius
    if not precision.doubled and type(tail) is not float:  # beside these bounds it is nothing
        radius, tail = radius + np.abs(tail), 0.0
    # And so is the second half of the bounds beside the first.
    radius, hard = _halved(radius), _halved(hard)
    return Golden(kind.name, value, tail, radius, hard, hard if biased else _halved(drift), nominal, *figures)


def _last_rounding(value: np.ndarray, hard: np.ndarray, kind: DType, rounds: np.ndarray | bool) -> np.ndarray:
    """Return what is lost at most where a result within ``hard`` of ``value`` is rounded into its dtype."""
    reach = np.abs(value)
    reach += hard if np.isfinite(hard).all() else np.where(np.isfinite(hard), hard, 0.0)
    last = ulp(reach, kind.name)
    last *= 0.5 if np.all(rounds) else 0.5 * rounds
    return last


def _halves(result: Enclosure) -> tuple[np.ndarray, np.ndarray | float]:
    """Return value and tail of a result, so that the value is what their sum rounds to."""
    if not np.any(result.tail):
        return np.asarray(result.value), 0.0
    total = np.asarray(result.value + result.tail)
    if np.array_equal(total, result.value):  # as mostly
        return total, result.tail
    value, tail = map(np.asarray, two_sum(result.value, result.tail))
    return value, np.where(np.isfinite(value), tail, 0.0)


def _figures(drift: np.ndarray, bias: np.ndarray, noise: np.ndarray) -> tuple[float, float]:
    """Return root mean square and mean of the errors that are to be expected, as shares of the drift bound."""
    if not (drift.min(initial=np.inf) > 0 and drift.max(initial=0.0) < np.inf):
        judged = (drift > 0) & (drift < np.inf)
        drift, bias, noise = (np.broadcast_to(x, judged.shape)[judged] for x in (drift, bias, noise))
    count = max(drift.size, 1)
    lean = 0.0 if type(bias) is float and bias == 0 else float(np.sum(bias / drift))
    shares = np.asarray((noise + bias) / drift)
    return math.sqrt(np.square(shares, out=shares).sum() / count), lean / count


def joined(pieces: Iterable[Golden], shape: tuple[int, ...], axis: int) -> Golden:
    """Return golden results that follow each other along ``axis`` as the one of ``shape`` that they are parts of."""
    whole: dict[str, np.ndarray] = {}
    start, figures, dtype, exact = 0, _Figures(), "", True
    before = (slice(None),) * (axis % len(shape))
    for piece in pieces:
        if exact and not piece.rounded_once:
            exact = False
            if start:  # the bounds of what came before are needed after all
                past = (*before, slice(0, start))
                value, tail, nominal = (_of_whole(whole, name)[past] for name in _ONCE)
                known = RoundedOnce(dtype, value, tail, nominal)
                figures.add(known)
                for name in _BOUNDS:
                    _put(whole, name, known, shape, past)
        stop = start + piece.value.shape[axis]
        for name in _ONCE if exact else _PARTS:
            _put(whole, name, piece, shape, (*before, slice(start, stop)))
        if not exact:
            figures.add(piece)
        dtype, start = piece.dtype, stop
        del piece  # before the next one is made
    if exact:
        value, tail, nominal = (_of_whole(whole, name) for name in _ONCE)
        return RoundedOnce(dtype, value, tail, nominal)
    parts = {name: _of_whole(whole, name) for name in _PARTS}
    return Golden(dtype, **parts, noise=figures.noise, bias=figures.bias, shared=())


@dataclass
class _Figures:
    """Noise and bias of golden results that are parts of one: they count by their elements with a bound."""

    counted: int = 0
    squares: float = 0.0
    sums: float = 0.0

    def add(self, piece: Golden) -> None:
        if piece.noise or piece.bias:
            judged = np.count_nonzero((piece.drift > 0) & (piece.drift < np.inf))
            self.counted += judged
            self.squares += judged * piece.noise**2
            self.sums += judged * piece.bias

    @property
    def noise(self) -> float:
        return math.sqrt(self.squares / max(self.counted, 1))

    @property
    def bias(self) -> float:
        return self.sums / max(self.counted, 1)


_ONCE = ("value", "tail", "nominal")
_BOUNDS = ("radius", "hard", "drift")
_PARTS = (*_ONCE, *_BOUNDS)

_ALIASES = {"drift": "hard", "nominal": "value"}
"""Parts that may be another one, and then take no memory of their own."""


def _of_whole(whole: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return a part of the whole: its own, that which it is an alias of, or zeros."""
    part = whole.get(name, whole.get(_ALIASES.get(name, "")))
    return np.broadcast_to(0.0, whole["value"].shape) if part is None else part


def _put(
    whole: dict[str, np.ndarray], name: str, piece: Golden, shape: tuple[int, ...], rows: tuple[slice, ...]
) -> None:
    """Write a part of ``piece`` to its ``rows`` of the whole; zeros, and what is another part, need no memory."""
    part, alias = np.asarray(getattr(piece, name)), _ALIASES.get(name, "")
    if name not in whole:
        if (alias and getattr(piece, alias) is getattr(piece, name)) or (
            not alias and name != "value" and (part.ndim == 0 or not any(part.strides)) and not part.any()
        ):
            return
        before = whole.get(alias)  # the alias has these rows already, and the ones before were the same
        whole[name] = np.empty(shape, part.dtype)
        past = (*rows[:-1], slice(0, rows[-1].start))
        whole[name][past] = 0 if before is None else before[past]
    if not np.can_cast(part.dtype, whole[name].dtype):  # not every block's bounds are within float32's range
        whole[name] = whole[name].astype(part.dtype)
    whole[name][rows] = part


def _halved(bound: np.ndarray | float) -> np.ndarray:
    """Return a bound in float32, rounded up, where all of it is zero or well inside of its range."""
    bound = np.asarray(bound)
    if not bound.size:
        return bound.astype(np.float32)
    if bound.max() < 2.0**120 and (bound.min() > 2.0**-120 or not np.any((bound <= 2.0**-120) & (bound > 0))):
        return np.multiply(bound, 1 + 2.0**-23, out=np.empty(bound.shape, np.float32), casting="same_kind")
    return bound


def _sticky(value: np.ndarray, tail: np.ndarray | float, kind: DType) -> np.ndarray:
    """Return ``value`` moved toward its tail where it lies in the middle of two numbers of ``kind``, or is one.

    So rounding it once more is rounding once. All such values have one bit at most below the last of ``kind``.
    """
    if type(tail) is float:
        return value
    bits = value.view(np.int64) if value.ndim else value.reshape(1).view(np.int64).reshape(())
    doubtful = (bits & np.int64(2 ** (52 - kind.precision) - 1)) == 0
    doubtful &= tail != 0
    doubtful &= np.isfinite(value)
    if not doubtful.any():
        return value
    return np.nextafter(value, np.copysign(np.inf, tail), out=np.array(value), where=doubtful)


def _certain(golden: Golden, margin: float) -> np.ndarray:
    kind = dtype_of(golden.dtype)
    nominal = decode(golden.nominal, golden.dtype)
    away = (golden.value - nominal) + golden.tail
    # The neighbour toward zero is half as far where the number is a power of two, the smallest normal one apart.
    half = ulp(nominal, golden.dtype) / 2
    halved = (np.frexp(nominal)[0] == np.copysign(0.5, nominal)) & (np.abs(nominal) > kind.smallest_normal)
    toward = np.where(halved, half / 2, half)
    outward = away * np.sign(nominal) + np.where(nominal == 0, np.abs(away), 0.0)
    reach = margin * np.asarray(golden.radius)
    sure = (outward + reach < half) & (outward - reach > -toward)
    threshold = kind.largest + 2.0 ** (kind.emax - kind.precision)
    infinite = np.where(np.isfinite(golden.value), np.abs(golden.value) - reach > threshold, True)
    certain = np.where(np.isfinite(nominal), sure, infinite) | np.isnan(golden.value)
    # Without any doubt of the value its rounding is no matter of doubt, ties included.
    return np.where(reach == 0, True, certain)


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


def judge_all(goldens: Mapping[str, Golden], outputs: Sequence[np.ndarray]) -> Verdict:
    """Return the verdict on the worst of a call's results, over the elements of all; it says which, among several.

    Raises ValueError for another number of them, and for any of another dtype or shape than golden's.
    """
    verdicts = {name: judge(golden, output) for (name, golden), output in zip(goldens.items(), outputs, strict=True)}
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    order = (EXACT, WITHIN, DRIFT, WRONG)
    name, worst = max(verdicts.items(), key=lambda pair: (order.index(pair[1].status), pair[1].share or 0.0))
    return replace(
        worst,
        elements=sum(one.elements for one in verdicts.values()),
        open=sum(one.open for one in verdicts.values()),
        detail=f"{name}: {worst.detail}" if worst.detail else "",
    )


def _bits(storage: np.ndarray) -> np.ndarray:
    return storage.view(f"i{storage.itemsize}")


def _compare(golden: Golden, output: np.ndarray) -> Verdict:
    if output.size == 0:
        return Verdict(EXACT, 0)
    with np.errstate(all="ignore"):
        if not dtype_of(golden.dtype).is_float:
            return _judge_integers(golden, output)
        return _ordinary(golden, output) or _judge_floats(golden, output)


def _ordinary(golden: Golden, output: np.ndarray) -> Verdict | None:
    """Return the verdict on an output that is finite, judged everywhere and within its bounds; None for another."""
    found = tallied(golden, output)
    if found is None:
        return None
    together: Moments | None = None
    if found.bounded >= LEAST:
        together = moments_of_sums(
            found.bounded,
            squares=found.squares,
            total=found.shares,
            outward=found.outward,
            noise=golden.noise,
            bias=golden.bias,
        )
    # What is suspicious is looked at again, without what is due to equal values.
    status = EXACT if _same(output, golden, decode(output, golden.dtype)).all() else WITHIN
    if status == WITHIN and together and together.suspicious:
        return None
    n, shown = output.size, together if status == WITHIN else None
    return Verdict(
        status,
        n,
        0,
        found.largest,
        found.share,
        found.hard_share,
        math.sqrt(found.unit_squares / n),
        found.units / n,
        shown.rms_share if shown else None,
        shown.deviations if shown else None,
    )


def _judge_integers(golden: Golden, output: np.ndarray) -> Verdict:
    judged = np.isfinite(golden.hard)
    differs = judged & (output != golden.nominal)
    opened = output.size - int(judged.sum())
    if not differs.any():
        return Verdict(EXACT, output.size, opened, 0.0, 0.0, 0.0, 0.0, 0.0)
    error = np.where(differs, output.astype(np.float64) - golden.nominal.astype(np.float64), 0.0)
    size = np.where(differs, np.maximum(np.abs(error), 1.0), 0.0)  # those that are one float64 differ all the same
    share, hard_share = _worst_share(size, golden.drift, judged), _worst_share(size, golden.hard, judged)
    status = WITHIN if share <= 1 else DRIFT if hard_share <= 1 else WRONG
    beyond = size > (golden.hard if status == WRONG else golden.drift)
    worst = int(np.where(beyond, size, 0.0).argmax())
    detail = "" if status == WITHIN else _describe(golden, output, worst, int(beyond.sum()))
    rms, bias = _units_moments(error)
    return Verdict(status, output.size, opened, float(size.max()), share, hard_share, rms, bias, detail=detail)


def _judge_floats(golden: Golden, output: np.ndarray) -> Verdict:
    dtype, actual = dtype_of(golden.dtype), decode(output, golden.dtype)
    error = _error(golden, actual, dtype)
    judged = ~np.isinf(golden.hard)
    # The radius is granted, less a hair so that a share of exactly 1 stays 1 after rounding.
    excess = np.maximum(np.abs(error) - golden.radius, 0.0)
    share = hard_share = _worst_share(excess, golden.hard, judged)
    if golden.drift is not golden.hard:
        share = _worst_share(excess, golden.drift, judged)
    units = error / ulp(golden.value, golden.dtype)
    if not judged.all():
        units = np.where(judged, units, 0.0)
    opened = output.size - int(judged.sum())
    status = WITHIN if share <= 1 else DRIFT if hard_share <= 1 else WRONG
    if status == WITHIN and _same(output, golden, actual)[judged].all():
        status = EXACT
    rms, bias = _units_moments(units)
    detail, found = "", _in_common(golden, error, judged) if status == WITHIN else None
    if found and found.suspicious:
        status, detail = DRIFT, found.detail
    elif status in (DRIFT, WRONG):
        bound = golden.hard if status == WRONG else golden.drift
        beyond = np.flatnonzero(judged & ((excess > bound) | np.isnan(excess)))
        off, least = np.abs(np.ravel(error)[beyond]), np.maximum(np.ravel(bound)[beyond], 5e-324)
        ranked = np.where(np.isfinite(off), off / least, np.inf)
        detail = _describe(golden, output, int(beyond[ranked.argmax()]), beyond.size)
    rms_share, deviations = (found.rms_share, found.deviations) if found else (None, None)
    largest = float(np.abs(units).max())
    return Verdict(status, output.size, opened, largest, share, hard_share, rms, bias, rms_share, deviations, detail)


def _in_common(golden: Golden, error: np.ndarray, judged: np.ndarray) -> Moments | None:
    """Return what the errors of elements with a bound have in common; None where there are too few of them."""
    counted = judged & (golden.drift > 0) & np.isfinite(golden.value)
    drift, value = golden.drift[counted], golden.value[counted]
    # Golden's own rounding may overflow; an error that large is one of the whole bound.
    nominal = np.clip((decode(golden.nominal, golden.dtype)[counted] - value) / drift, -1.0, 1.0)
    shared = (np.broadcast_to(operand, counted.shape)[counted] for operand in golden.shared)
    return moments(error[counted] / drift, value, nominal, noise=golden.noise, bias=golden.bias, shared=shared)


def _error(golden: Golden, actual: np.ndarray, dtype: DType) -> np.ndarray:
    """Return output minus golden; infinite where one is NaN or infinite and the other is not the same.

    An infinity that golden's rounding into the dtype reaches counts as the threshold beyond which values round to it,
    so that overflow is judged by the same bounds as everything else.
    """
    threshold = dtype.largest + 2.0 ** (dtype.emax - dtype.precision)
    error = (actual - golden.value) - golden.tail
    if np.isfinite(error).all():
        return np.asarray(error)
    finite = np.isfinite(golden.value)
    overflowed = finite & np.isinf(actual)
    short = np.maximum(threshold - golden.value * np.sign(actual), 0.0) * np.sign(actual)
    error = np.where(overflowed, np.where(short == 0, 0.0, short), error)
    same = (np.isnan(actual) & np.isnan(golden.value)) | (actual == golden.value)
    return np.where(same & ~finite, 0.0, np.where(np.isnan(error) | (~finite & ~same), np.inf, error))


def _worst_share(excess: np.ndarray, bound: np.ndarray, judged: np.ndarray) -> float:
    share = excess / bound
    if judged.all() and bound.min() > 0:
        return float(share.max())
    return float(np.fmax.reduce(share, axis=None, initial=0.0, where=judged))  # of nothing beyond nothing, no matter


def _same(output: np.ndarray, golden: Golden, actual: np.ndarray) -> np.ndarray:
    """Where the output is the rounded golden value: the same bits, or any NaN for a NaN and either zero for a zero."""
    nominal = decode(golden.nominal, golden.dtype)
    return (output == golden.nominal) | (actual == nominal) | (np.isnan(actual) & np.isnan(nominal))


def _units_moments(units: np.ndarray) -> tuple[float, float]:
    """Return root mean square and mean; where the sum of errors would overflow, the mean is that of clipped ones."""
    if np.abs(units).max() <= 1e300:
        return float(np.sqrt(np.mean(np.square(units)))), float(np.mean(units))
    mean = np.mean(np.clip(np.nan_to_num(units), -1e300, 1e300)) if np.isfinite(units).any() else 0.0
    return np.inf, float(mean)


def _describe(golden: Golden, output: np.ndarray, flat: int, count: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(flat, output.shape))
    got: Any = decode(output, golden.dtype)[index]
    want: Any = decode(golden.nominal, golden.dtype)[index]
    return f"{count} of {output.size} elements, worst at {list(index)}: {got:.9g} instead of {want:.9g}"
