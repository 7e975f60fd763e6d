"""Steps of a computation that golden follows exactly, as one particular machine takes them, instead of bounding them.

A precision says what a correct implementation *may* do, and widens bounds. An emulation says what a machine *does*: the
golden value moves, and the bounds stay as tight as they were. So an output that comes within them only then shows what
was done to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from golden.dtypes import DTYPES
from golden.orders import Order
from golden.rounding import round_significand, round_to_format

if TYPE_CHECKING:
    from golden.followed import Followed

FORMATS: dict[str, tuple[int, int, float]] = {
    "tf32": (11, -126, (2.0 - 2.0**-10) * 2.0**127),
    **{name: (dtype.precision, dtype.emin, dtype.largest) for name, dtype in DTYPES.items() if dtype.is_float},
}
"""Formats that numbers are rounded to: significand bits, exponent of the smallest normal number, largest number."""

MOST_STEPS = 2**25
"""Additions that are followed one by one; more would take longer than anybody waits for an explanation."""


class TooLongError(ValueError):
    """More additions than can be followed one by one."""


@dataclass(frozen=True)
class Rounding:
    """A rounding to a format by a mode of :mod:`golden.rounding`; subnormal results are kept or ``flushed``."""

    format: str
    mode: str = "nearest"
    flushed: bool = False

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return float64 ``x`` rounded, as float64."""
        bits, emin, largest = FORMATS[self.format]
        with np.errstate(over="ignore"):
            rounded = round_to_format(x, bits, emin, largest, self.mode)
        return np.where(np.abs(rounded) < 2.0**emin, np.copysign(0.0, x), rounded) if self.flushed else rounded

    def __str__(self) -> str:
        if self.flushed:
            return "taken for zero where subnormal"
        return _MODES[self.mode] + self.format


_MODES = {"nearest": "rounded to ", "away": "rounded, ties away, to ", "truncated": "cut to "}


class Sums(NamedTuple):
    """Sums of terms in their order: each ``width`` of them are added exactly, and to the accumulator with one rounding.

    The accumulator has ``bits`` of significand and the range of ``dtype``. After ``chunk`` terms (None: never) it is
    added to one of float32 and begins anew. Unless ``fused``, a product is rounded before it is added. Where there is
    an ``order``, the terms are added in that one instead, one by one; running sums stay term by term.
    """

    bits: int
    mode: str = "nearest"
    dtype: str = "float32"
    width: int = 1
    chunk: int | None = None
    fused: bool = True
    order: Order | None = None

    def __str__(self) -> str:
        kind = DTYPES[self.dtype]
        what = self.dtype if kind.precision == self.bits else f"{self.bits} bits"
        words = [f"in {what}", "truncating" if self.mode == "truncated" else ""]
        steps = f"{self.width} terms at a time" if self.width > 1 else "term by term"
        words += [f"in the order {self.order}" if self.order else steps]
        words += [f"in chunks of {self.chunk}" if self.chunk else "", "" if self.fused else "products rounded first"]
        return ", ".join(filter(None, words))

    @property
    def unit(self) -> float:
        """The largest relative error of one addition."""
        return 2.0 ** (1 - self.bits if self.mode == "truncated" else -self.bits)

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the product of matrices (..., m, k) and (..., k, n); raises TooLongError."""
        shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
        if self.order:
            check_length(k * int(np.prod((*shape, m, n))))
            terms = np.moveaxis(left[..., :, :, None] * right[..., None, :, :], -2, 0)
            return self.order.added(terms if self.fused else self._rounded(terms), self._rounded)

        def term(start: int, stop: int) -> np.ndarray:
            if self.fused:
                return np.matmul(left[..., start:stop], right[..., start:stop, :])
            terms = left[..., :, start:stop, None] * right[..., None, start:stop, :]
            return np.asarray(self._rounded(terms).sum(-2))

        return self._added(term, k, (*shape, m, n))

    def total(self, terms: np.ndarray, axis: int) -> np.ndarray:
        """Return the sum of terms along ``axis``, which is kept with length 1; raises TooLongError."""
        first = np.moveaxis(terms, axis, 0)
        if self.order:
            check_length(terms.size)
            return np.expand_dims(self.order.added(first, self._rounded), axis)
        whole = self._added(lambda start, stop: first[start:stop].sum(0), len(first), first.shape[1:])
        return np.expand_dims(whole, axis)

    def running(self, terms: np.ndarray, axis: int, *, reverse: bool) -> np.ndarray:
        """Return the sums up to each term along ``axis``, or from each on if ``reverse``; raises TooLongError."""
        first = np.moveaxis(np.flip(terms, axis) if reverse else terms, axis, 0)
        check_length(terms.size)
        sums = np.empty(first.shape)
        state = np.zeros(first.shape[1:])
        for step, one in enumerate(first):
            state = sums[step] = self._rounded(state + one)
        sums = np.moveaxis(sums, 0, axis)
        return np.flip(sums, axis) if reverse else sums

    def _added(self, term: Callable[[int, int], np.ndarray], count: int, shape: tuple[int, ...]) -> np.ndarray:
        check_length(-(-count // self.width) * int(np.prod(shape)))
        outer, inner = np.zeros(shape), np.zeros(shape)
        for start in range(0, count, self.width):
            if self.chunk and start and start % self.chunk == 0:
                outer, inner = Rounding("float32")(outer + inner), np.zeros(shape)
            inner = self._rounded(inner + term(start, min(start + self.width, count)))
        return Rounding("float32")(outer + inner) if self.chunk else inner

    def _rounded(self, x: np.ndarray) -> np.ndarray:
        if self.bits == 24 and self.mode == "nearest":  # NumPy's own conversion is quicker
            return x.astype(np.float32).astype(np.float64)
        rounded, sizes = round_significand(x, self.bits, self.mode), np.abs(x)
        kind = DTYPES[self.dtype]
        if not x.size or (sizes.max() < kind.largest and sizes.min() >= kind.smallest_normal):
            return rounded
        with np.errstate(over="ignore"):
            return round_to_format(x, self.bits, kind.emin, kind.largest, self.mode)


def check_length(steps: int) -> None:
    """Raise TooLongError where there are too many additions to follow."""
    if steps > MOST_STEPS:
        raise TooLongError(f"{steps} additions are too many to be followed one by one; {MOST_STEPS} are the most")


class MatrixUnit(NamedTuple):
    """Products of matrices as units add them that align terms, by block fused multiply-add.

    ``width`` products and the accumulator are lined up with the largest of them, going by the sum of their factors'
    exponents, and cut off beyond ``kept`` bits; their sum is cut to the accumulator's ``bits``. After ``chunk`` terms
    (None: never) it is added to one of float32 and begins anew. Found by Fasi, Higham, Mikaitis and Pranesh,
    "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021, and FTTN, arXiv:2403.00232.
    """

    width: int
    kept: int
    bits: int = 24
    chunk: int | None = None

    def __str__(self) -> str:
        chunks = f", in chunks of {self.chunk}" if self.chunk else ""
        return f"{self.width} products at a time, cut off {self.kept} bits below the largest{chunks}"

    @property
    def unit(self) -> float:
        """The largest relative error of one addition, of the terms' magnitudes."""
        return 2.0 ** (1 - min(self.bits, self.kept))

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the product of matrices (..., m, k) and (..., k, n); raises TooLongError."""
        shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
        check_length(k * int(np.prod((*shape, m, n))))
        outer, inner = np.zeros((*shape, m, n)), np.zeros((*shape, m, n))
        for start in range(0, k, self.width):
            if self.chunk and start and start % self.chunk == 0:
                outer, inner = Rounding("float32")(outer + inner), np.zeros_like(inner)
            block = slice(start, start + self.width)
            inner = self._added(inner, left[..., :, block, None], right[..., None, block, :])
        return Rounding("float32")(outer + inner) if self.chunk else inner

    def _added(self, state: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return ``state`` and the products of factors (..., m, k, 1) and (..., 1, k, n), added in one step."""
        terms = np.concatenate([left * right, state[..., None, :]], axis=-2)
        factors = exponent(left) + exponent(right)
        exponents = np.concatenate([factors, exponent(state)[..., None, :]], axis=-2)
        return round_significand(aligned(terms, exponents, self.kept), self.bits, "truncated")


_LOWEST = -2000  # an exponent below that of every product of float64


def aligned(terms: np.ndarray, exponents: np.ndarray, kept: int) -> np.ndarray:
    """Return the sum of ``terms`` (..., t, n) along the axis before the last, each cut off beyond ``kept`` bits of the
    largest of them, going by their ``exponents``.
    """
    largest = np.where(terms != 0, exponents, _LOWEST).max(-2, keepdims=True)
    places = kept - 1 - largest
    with np.errstate(over="ignore"):
        total = np.ldexp(np.trunc(np.ldexp(terms, places)).sum(-2), -places[..., 0, :])
    return np.where(largest[..., 0, :] > _LOWEST, total, 0.0)


def exponent(x: np.ndarray) -> np.ndarray:
    """Return the exponent of the leading bit."""
    return np.frexp(x)[1] - 1


class Emulation(NamedTuple):
    """What a machine does at each kind of step; None where it does as the contract says.

    Attributes:
        inputs: how tensors are rounded as they are loaded.
        operands: how all operands of matrix products are.
        computed: how computed operands of matrix products are.
        kept: how what is kept between passes is.
        functions: how results of functions are.
        approximation: one of :data:`APPROXIMATIONS` that takes a function's place.
        sums: how sums, of products too, are added up.
        unit: how matrix products are, where that is otherwise.
        whole: how numbers are rounded to whole ones: a name in :data:`WHOLE`.
        result: how the result is rounded, step after step, before it is stored.
        otherwise: formulas that may be written in two ways (:func:`golden.enclosure.either`) are written in the second.
    """

    inputs: Rounding | None = None
    operands: Rounding | None = None
    computed: Rounding | None = None
    kept: Rounding | None = None
    functions: Rounding | None = None
    approximation: str | None = None
    sums: Sums | None = None
    unit: MatrixUnit | Followed | None = None
    whole: str | None = None
    result: tuple[Rounding, ...] = ()
    otherwise: bool = False

    @property
    def follows(self) -> bool:
        """Whether additions are followed rounding by rounding."""
        return bool(self.sums or self.unit)

    def loaded(self, x: np.ndarray) -> np.ndarray:
        """Return an input as it is loaded."""
        return self.inputs(x) if self.inputs else x

    def stored(self, x: np.ndarray) -> np.ndarray:
        """Return a result after the roundings that it goes through."""
        for rounding in self.result:
            x = rounding(x)
        return x


AS_PROMISED = Emulation()
"""No step is followed: the contract's own."""


def _erf_rational(x: np.ndarray) -> np.ndarray:
    """Abramowitz and Stegun, 7.1.26: an error of 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.copysign(1 - series * np.exp(-x * x), x)


def _erf_by_tanh(x: np.ndarray) -> np.ndarray:
    """The tanh form of gelu (Hendrycks and Gimpel, 2016) solved for erf."""
    y = x * 1.4142135623730951
    return np.tanh(0.7978845608028654 * (y + 0.044715 * y**3))


def _exp_of_bits(x: np.ndarray) -> np.ndarray:
    """Exponent and significand of the result made of the argument's bits, with no correction (Schraudolph, 1999)."""
    scaled = x * 1.4426950408889634
    whole = np.floor(scaled)
    return np.where(
        np.isfinite(scaled), np.ldexp(1 + (scaled - whole), np.clip(whole, -1100, 1100).astype(int)), np.exp(x)
    )


def _tanh_rational(x: np.ndarray) -> np.ndarray:
    """The Pade approximant of order [3/2], held within -1 and 1."""
    return np.clip(x * (27 + x * x) / (27 + 9 * x * x), -1, 1)


APPROXIMATIONS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "a rational approximation of erf": ("erf", _erf_rational),
    "the tanh form of gelu in the place of erf": ("erf", _erf_by_tanh),
    "an exp made of its argument's bits": ("exp", _exp_of_bits),
    "a rational approximation of tanh": ("tanh", _tanh_rational),
}
"""Approximations that take a function's place: what it is called, the function, and the approximation itself."""

WHOLE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "toward zero": np.trunc,
    "down": np.floor,
    "up": np.ceil,
    "to nearest, ties away": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "to nearest, ties up": lambda x: np.floor(x + 0.5),
    "to nearest even": np.rint,
}
"""Roundings to whole numbers: the contracts' own, and what else machines and programmers do."""
