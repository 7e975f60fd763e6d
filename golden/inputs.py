"""The inputs of a case, bit-identical on every machine.

Values come from NumPy's counter-based generator Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
SC 2011), keyed by the case's seed and the tensor's name, and from integer arithmetic up to the one final rounding into
the dtype. A regime is a law of values; each aims at a kind of fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import numpy as np

from golden import layout as layouts
from golden.case import Case, CaseError, Form
from golden.dtypes import DType, dtype_of, encode

HUGE = 2**28
"""Elements beyond which a tensor is not held whole: an expanded one is its one slice, an output its sampled rows."""

_LN_2 = 355 / 512
"""The logarithm of 2, nearly; what it is multiplied by is rounded alike on every machine."""

Law = Callable[["Words", tuple[int, ...], DType], np.ndarray]


class Words:
    """A stream of uniform 64-bit words, fixed by a seed and a name."""

    def __init__(self, seed: int, name: str) -> None:
        key = int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:16], "little")
        self._generator = np.random.Philox(key=key)

    def take(self, *shape: int) -> np.ndarray:
        """Return the next words of the stream as uint64 of ``shape``."""
        count = int(np.prod(shape, dtype=np.int64))
        return self._generator.random_raw(count).reshape(shape) if count else np.zeros(shape, np.uint64)

    def below(self, limit: int, *shape: int) -> np.ndarray:
        """Return integers from 0 to ``limit - 1`` as int64; ``limit`` is far below 2**64, so the bias is nothing."""
        return (self.take(*shape) % np.uint64(limit)).astype(np.int64)

    def fraction(self, *shape: int) -> np.ndarray:
        """Return multiples of 2**-52 in [0, 1) as float64."""
        return np.ldexp((self.take(*shape) >> np.uint64(12)).astype(np.float64), -52)

    def sign(self, *shape: int) -> np.ndarray:
        """Return +1 or -1 as float64."""
        return 1.0 - 2.0 * (self.take(*shape) >> np.uint64(63)).astype(np.float64)


def _normal(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Mean 0, deviation 1: twelve uniform 16-bit integers summed (Irwin-Hall), with 32 more bits below them."""
    raw = words.take(4, *shape)
    # Two sums of six in the halves of one word, then one of twelve: they never carry out of their half.
    every_other = np.uint64(0x0000FFFF0000FFFF)
    halves = (raw[:3] & every_other).sum(0) + ((raw[:3] >> np.uint64(16)) & every_other).sum(0)
    total = ((halves >> np.uint64(32)) + (halves & np.uint64(0xFFFFFFFF))).astype(np.int64)
    whole = ((total - 12 * 0x8000) << np.int64(32)) + (raw[3] >> np.uint64(32)).astype(np.int64)
    return np.ldexp(whole.astype(np.float64), -48)


def _shifted(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Mean 3, deviation 1: padded lanes that enter a sum or a variance as zeros show."""
    return _normal(words, shape, dtype) + 3.0


def _positive(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Uniform in (0, 1): no cancellation, so a biased rounding adds up."""
    return np.maximum(words.fraction(*shape) + 2.0**-53, dtype.quantum)


def _integers(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Small whole numbers, -8 to 8: sums are exact, so nothing but the exact result is right."""
    return words.below(17, *shape) - 8


def _wide(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Exponents spread over a wide range: small terms are lost first where precision is short."""
    reach = min(20, dtype.emax // 2)
    exponent = words.below(2 * reach + 1, *shape) - reach
    return words.sign(*shape) * np.ldexp(1.0 + words.fraction(*shape), exponent)


def _cancelling(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Neighbours on the last axis that almost cancel, so that an error is large beside the result."""
    values = _normal(words, shape, dtype)
    nearly = 1.0 + np.ldexp(words.fraction(*shape), -10)
    if shape and shape[-1] > 1:
        pairs = shape[-1] // 2
        values[..., 1 : 2 * pairs : 2] = -(values * nearly)[..., 0 : 2 * pairs : 2]
    return values


def _large(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """The top three binades: products and sums overflow unless the algorithm takes care."""
    exponent = dtype.emax - words.below(3, *shape)
    sign, values = words.sign(*shape), np.ldexp(1.0 + words.fraction(*shape) * (1 - 2.0**-8), exponent)
    return sign * np.minimum(values, dtype.largest)


def _subnormal(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Subnormal numbers and the first normal ones: what flushes to zero shows."""
    whole = words.below(2 ** min(dtype.precision, 62), *shape).astype(np.float64)
    return words.sign(*shape) * whole * dtype.quantum


def _planted(plants: tuple[float, ...]) -> Law:
    """Normal values with one to three of ``plants`` put in: among them the first, the last, or anywhere."""

    def law(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        values = _normal(words, shape, dtype)
        flat = values.reshape(-1)
        if flat.size:
            for where, which, place in words.below(2**32, 1 + int(words.below(3, 1)[0]), 3):
                position = (0, flat.size - 1, where % flat.size, where % flat.size)[place % 4]
                flat[position] = plants[which % len(plants)]
        return values

    return law


def _masked(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Half of the elements -inf, as a mask leaves them, and now and then a whole row of the last axis."""
    values = _normal(words, shape, dtype)
    values[words.sign(*shape) < 0] = -np.inf
    if shape:
        values[words.below(4, *shape[:-1]) == 0] = -np.inf
    return values


def _masked_above(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """The same with +inf, which is what takes an element out of a minimum."""
    return -_masked(words, shape, dtype)


def _signed_zero(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Zeros of both signs among normal values."""
    values = _normal(words, shape, dtype)
    kind = words.below(3, *shape)
    return np.where(kind == 0, values, np.where(kind == 1, 0.0, -0.0))


def _halves(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Halves of whole numbers of up to 13 bits: ties, for who rounds to whole numbers or to the bits of a dtype."""
    bits = words.below(13, *shape) + 1
    return words.sign(*shape) * (words.below(2**13, *shape) >> (13 - bits)) / 2


def _steps(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Uniform in (0, 2**-7): the steps of integers of 8 bits that stand for numbers up to 1."""
    return _positive(words, shape, dtype) * 2.0**-7


def _full(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Every bit pattern of an integer dtype."""
    return words.take(*shape).astype(np.int64)


def _extremes(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """The ends of an integer dtype's range, and what lies around zero."""
    ends = np.iinfo(dtype.storage)
    return np.array([0, 1, -1, ends.max, ends.min, ends.max - 1, ends.min + 1], np.int64)[words.below(7, *shape)]


def _logarithms(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Logarithms of subnormal numbers, of normal ones, and of those around the largest: exponentials overflow too."""
    ends = np.array([dtype.emin - dtype.precision, dtype.emin, dtype.emax - 1, dtype.emax + 2], np.float64)
    third = words.below(3, *shape)
    return (ends[third] + (ends[third + 1] - ends[third]) * words.fraction(*shape)) * _LN_2


def _lowest(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Rows of the last axis at the lowest finite number, where a mask of such numbers leaves them; or everything."""
    values = _normal(words, shape, dtype)
    if words.below(2, 1)[0]:
        return np.full_like(values, -dtype.largest)
    if shape:
        values[words.sign(*shape[:-1]) < 0] = -dtype.largest
    return values


def _highest(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """The same with the highest number, as a minimum is masked."""
    return -_lowest(words, shape, dtype)


def _absorbed(words: Words, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Along the first axis a large number, 1, its negative, 1, and so on: what the ones come to is the order's doing.

    As 1e8, 1, -1e8, 1 are to float32. Each element begins somewhere else, so that no place has an order of its own.
    """
    large = 2.0 ** (dtype.precision + 2)
    turns = np.array([large, 1.0, -large, 1.0])
    along = np.arange(shape[0] if shape else 1).reshape(-1, *[1] * (len(shape) - 1))
    return turns[(along + words.below(4, *shape)[:1]) % 4]


FLOAT_REGIMES: dict[str, Law] = {
    "normal": _normal,
    "shifted": _shifted,
    "positive": _positive,
    "integers": _integers,
    "wide": _wide,
    "cancelling": _cancelling,
    "large": _large,
    "subnormal": _subnormal,
    "nan": _planted((np.nan,)),
    "inf": _planted((np.inf, -np.inf)),
    "mixed": _planted((np.nan, np.inf, -np.inf, -0.0)),
    "masked": _masked,
    "signed_zero": _signed_zero,
}
"""The laws of values for floating dtypes, by name."""

FLOAT_REGIMES_ON_REQUEST: dict[str, Law] = {
    "halves": _halves,
    "steps": _steps,
    "masked_above": _masked_above,
    "logarithms": _logarithms,
    "lowest": _lowest,
    "highest": _highest,
    "absorbed": _absorbed,
}
"""Laws that only those contracts draw from that name them."""

_INFINITE = ("inf", "masked")
"""Regimes whose special values are infinities."""

ORDINARY = ("normal", "shifted", "positive", "integers", "wide", "cancelling", "full", "steps")
"""Regimes without special values and far from the ends of the range, where precision decides."""

INTEGER_REGIMES: dict[str, Law] = {"normal": _integers, "integers": _integers, "full": _full, "extremes": _extremes}
"""The laws of values for integer dtypes, by name; ``normal`` is the small integers, so that it is always a default."""


def regimes_of(dtype: str) -> dict[str, Law]:
    """Return the regimes that ``dtype`` has, by name; those of infinities only where it has one."""
    kind = dtype_of(dtype)
    known = FLOAT_REGIMES if kind.is_float else INTEGER_REGIMES
    return known if kind.infinity else {name: known[name] for name in known if name not in _INFINITE}


def known_regimes(dtype: str) -> dict[str, Law]:
    """Return the regimes that a case may name for a tensor of ``dtype``, those on request too."""
    return {**regimes_of(dtype), **(FLOAT_REGIMES_ON_REQUEST if dtype_of(dtype).is_float else {})}


def make_input(case: Case, tensor: str, form: Form) -> np.ndarray:
    """Return the logical values of one input as contiguous storage of the form's dtype; raises CaseError."""
    spec, known = case.spec(tensor), known_regimes(form.dtype)
    if spec.regime not in known:
        raise CaseError(f"tensors.{tensor}: {form.dtype} has no regime {spec.regime!r}; it has {', '.join(known)}")
    shape, axis = form.shape, layouts.expanded_axis(spec.layout)
    if axis is not None and axis >= len(shape):
        raise CaseError(f"tensors.{tensor}: layout {spec.layout!r} expands axis {axis} of shape {shape}")
    if form.values is not None:
        return _fixed(tensor, form, expanded=axis is not None)
    drawn = tuple(1 if index == axis and size else size for index, size in enumerate(shape))
    # A scalar is drawn as one element, since NumPy turns results of rank 0 into scalars that cannot be assigned to.
    values = known[spec.regime](Words(case.seed, tensor), drawn or (1,), dtype_of(form.dtype))
    if form.low is not None and form.high is not None:
        values = form.low + values % max(form.high - form.low, 1)
    whole = np.broadcast_to(encode(values, form.dtype).reshape(drawn), shape)
    return whole if whole.size > HUGE else np.array(whole, order="C")


def _fixed(tensor: str, form: Form, *, expanded: bool) -> np.ndarray:
    """Return the input whose values the form gives; raises CaseError where a layout would repeat one of its slices."""
    if expanded:
        raise CaseError(f"tensors.{tensor}: its values follow from the case: no layout may expand an axis of it")
    return encode(np.array(form.values, np.int64).reshape(form.shape), form.dtype)


def make_inputs(case: Case, forms: Mapping[str, Form | tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Return every input of ``case`` by tensor name, as logical storage arrays; a bare shape is of the case's dtype."""
    for name in case.tensors:
        if name not in forms:
            raise CaseError(f"{case.operation} has no tensor {name!r}; it has {', '.join(forms)}")
    whole = {name: form if isinstance(form, Form) else Form(tuple(form), case.dtype) for name, form in forms.items()}
    return {name: make_input(case, name, form) for name, form in whole.items()}


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 (16 hex digits) of arrays by name, shape and little-endian bytes."""
    state = hashlib.sha256()
    for name, array in arrays.items():
        state.update(f"{name}{tuple(array.shape)}".encode())
        if array.size > HUGE:  # an expanded axis says nothing new
            array = array[tuple(slice(None) if stride else slice(1) for stride in array.strides)]
        state.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return state.hexdigest()[:16]
