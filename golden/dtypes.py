"""The element types that a case can have, and how their bits become numbers.

Tensors travel as NumPy *storage* arrays: the native type where NumPy has one, bit patterns for bfloat16 (uint16) and
the two formats of float8 (uint8), which are those of the OCP 8-bit floating point specification (2023).
:func:`decode` makes numbers of them (float64, or int64 for integers; both exact), :func:`encode` rounds numbers once,
to nearest even, into storage.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from golden.rounding import round_to_format


@dataclass(frozen=True)
class DType:
    """One element type: its storage and, for a floating type, its format in the terms of IEEE 754.

    ``precision`` counts the leading one; ``2.0**emin`` is the smallest normal number. A format without ``infinity``
    spends the codes of its last exponent on numbers, but for the very last one, which is NaN.
    """

    name: str
    kind: str
    storage: np.dtype
    precision: int = 0
    emin: int = 0
    emax: int = 0
    infinity: bool = True

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.storage.itemsize

    @property
    def unit(self) -> float:
        """Unit roundoff ``u = 2**-precision``: the largest relative error of one rounding to nearest."""
        return 2.0**-self.precision if self.is_float else 0.0

    @property
    def smallest_normal(self) -> float:
        return 2.0**self.emin

    @property
    def quantum(self) -> float:
        """The smallest subnormal number, and the spacing of all subnormal ones; 1 for integers."""
        return 2.0 ** (self.emin - self.precision + 1) if self.is_float else 1.0

    @property
    def largest(self) -> float:
        """The largest finite number."""
        if self.is_float:
            return (2.0 - 2.0 ** (1 + (not self.infinity) - self.precision)) * 2.0**self.emax
        return float(np.iinfo(self.storage).max)


def _float(name: str, storage: str, precision: int, emax: int) -> DType:
    return DType(name, "float", np.dtype(storage), precision, 1 - emax, emax)


DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        _float("float64", "float64", 53, 1023),
        _float("float32", "float32", 24, 127),
        _float("float16", "float16", 11, 15),
        _float("bfloat16", "uint16", 8, 127),
        DType("float8_e4m3fn", "float", np.dtype("uint8"), precision=4, emin=-6, emax=8, infinity=False),
        _float("float8_e5m2", "uint8", 3, 15),
        DType("int64", "int", np.dtype("int64")),
        DType("int32", "int", np.dtype("int32")),
        DType("int8", "int", np.dtype("int8")),
        DType("uint8", "int", np.dtype("uint8")),
    )
}

_EXPONENT = np.int64(0x7FF0000000000000)

_MIDDLE, _LOWER_HALF = np.uint32(0x8000), np.uint32(0xFFFF)

FLOATS = tuple(name for name, dtype in DTYPES.items() if dtype.is_float and dtype.itemsize > 1)
"""The floating dtypes that operations are defined for in general; those of one byte are for storing alone."""

FLOAT8S = tuple(name for name, dtype in DTYPES.items() if dtype.is_float and dtype.itemsize == 1)
INTEGERS = tuple(name for name, dtype in DTYPES.items() if not dtype.is_float)


def dtype_of(name: str) -> DType:
    """Return the element type called ``name``; raises ValueError that lists the known ones."""
    try:
        return DTYPES[name]
    except KeyError:
        raise ValueError(f"unknown dtype {name!r}; there are {', '.join(DTYPES)}") from None


def decode(storage: np.ndarray, name: str) -> np.ndarray:
    """Return the numbers in ``storage``: float64 for a floating dtype, int64 for an integer one; always exact."""
    dtype = dtype_of(name)
    if name == "bfloat16":
        return (storage.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if name in FLOAT8S:
        return np.asarray(_numbers_of_codes(dtype)[storage])
    return storage.astype(np.float64 if dtype.is_float else np.int64)


def encode(values: np.ndarray, name: str) -> np.ndarray:
    """Return ``values`` (float64, or int64 for any dtype) as storage of dtype ``name``.

    Into a floating dtype they are rounded once, to nearest even, and overflow to infinity, or to NaN where the dtype
    has no infinity; a NaN stays one. Integers wrap around, as two's complement arithmetic does.
    """
    dtype = dtype_of(name)
    if not dtype.is_float:
        return np.asarray(values, dtype=np.int64).astype(dtype.storage)
    values = np.asarray(values)
    if name == "float64":
        return values.astype(np.float64)
    if values.dtype == np.int64:
        values = _to_odd(values)
    values = values.astype(np.float64, copy=False)
    if dtype.storage.kind == "f":  # NumPy rounds float64 once, to nearest even, into the types that it has.
        with np.errstate(over="ignore"):
            return np.asarray(values.astype(dtype.storage))
    return _bytes(values, dtype) if name in FLOAT8S else _upper_halves(values, dtype)


def _to_odd(values: np.ndarray) -> np.ndarray:
    """Return int64 ``values`` so that float64 holds them, and rounding them to fewer bits gives what it should.

    (Rounding to odd: Boldo and Melquiond, IEEE Transactions on Computers 57, 2008.)
    """
    lost = np.int64(0x7FF)
    odd = (values & ~lost) | np.where(values & lost, lost + 1, 0)
    return np.where((values >> np.int64(53)) + 1 >> np.int64(1) == 0, values, odd)


def _upper_halves(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Return the upper halves of ``values`` in float32, which are bfloat16, rounded to nearest even."""
    codes = np.asarray(values.astype(np.float32)).view(np.uint32)
    # Where float32 lies in the middle, its own rounding may hide on which side of it the value is.
    doubtful = ((codes & _LOWER_HALF) == _MIDDLE) | np.isnan(values)
    codes = codes + (_MIDDLE - np.uint32(1) + ((codes >> np.uint32(16)) & np.uint32(1)))
    halves = np.asarray((codes >> np.uint32(16)).astype(np.uint16))
    if doubtful.any():
        rounded = round_to_format(values[doubtful], dtype.precision, dtype.emin, dtype.largest)
        upper = (rounded.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        halves[doubtful] = np.where(np.isnan(rounded), np.uint16(0x7FC0), upper)
    return halves


_LAST = 0x7F
"""The last of the codes of one byte without its sign; in both formats it is a NaN."""


@functools.cache
def _numbers_of_codes(dtype: DType) -> np.ndarray:
    """Return the numbers that the 256 codes of a format of one byte stand for."""
    exponent, fraction = np.divmod(np.arange(_LAST + 1), 2 ** (dtype.precision - 1))
    significand = fraction + np.where(exponent, 2 ** (dtype.precision - 1), 0)
    numbers = np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - 1) * dtype.quantum
    first_special = np.searchsorted(numbers, dtype.largest) + 1
    numbers[first_special:] = np.nan
    if dtype.infinity:
        numbers[first_special] = np.inf
    return np.concatenate([numbers, -numbers])


def _bytes(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Return ``values`` in a format of one byte, rounded to nearest even."""
    rounded = round_to_format(values, dtype.precision, dtype.emin, dtype.largest)
    magnitudes = _numbers_of_codes(dtype)[: _LAST + 1]
    special = int(np.searchsorted(magnitudes, dtype.largest)) + 1  # an infinity where there is one, or NaN
    codes = np.searchsorted(magnitudes[:special], np.abs(rounded))
    codes = np.where(np.isnan(rounded), _LAST, codes) | np.where(np.signbit(rounded), 0x80, 0)
    return codes.astype(np.uint8)


def ulp(values: np.ndarray, name: str) -> np.ndarray:
    """Return the spacing of dtype ``name`` around each of ``values`` (float64): one unit in the last place.

    The spacing of the binade that holds the value (Muller et al., Handbook of Floating-Point Arithmetic, 2.6);
    the subnormal spacing below the smallest normal number, the largest beyond the range and for NaN; 1 for integers.
    """
    dtype = dtype_of(name)
    if not dtype.is_float:
        return np.ones(np.shape(values))
    # The number without its significand is the power of two below it.
    powers = (np.asarray(values, np.float64).reshape(-1).view(np.int64) & _EXPONENT).view(np.float64)
    if powers.size and powers.min() < dtype.smallest_normal:
        np.maximum(powers, dtype.smallest_normal, out=powers)
    if powers.size and powers.max() > 2.0**dtype.emax:
        np.minimum(powers, 2.0**dtype.emax, out=powers)
    powers *= 2.0 ** (1 - dtype.precision)
    return powers.reshape(np.shape(values))
