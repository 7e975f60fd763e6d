"""Floating-point formats that NumPy has not got, as bit patterns: bfloat16, the float8 formats, and tf32.

A format is called by Triton's name for it. :func:`widen` turns codes into float32, which is exact; :func:`narrow` turns
numbers into codes, by way of float32 as torch does, rounding to nearest with ties to even.

What is too large for a float8 format becomes the code ``overflow``: an infinity, NaN, or the largest number, and
libraries and devices differ in that. :func:`overflowing_to` chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

_SIGN = 0x80
_BEYOND = 0x80
"""The code after the last magnitude: where rounding a number past the largest one arrives."""


@dataclass(frozen=True, eq=False)
class Format:
    """A narrow format: ``storage`` holds its codes, ``nan`` is the code of NaN (or what stands in for it)."""

    name: str
    storage: type
    nan: int

    def widen(self, codes: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def narrow(self, values: np.ndarray, *, toward_zero: bool = False) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _BFloat16(Format):
    """The upper half of a float32."""

    def widen(self, codes: np.ndarray) -> np.ndarray:
        return (codes.astype(np.uint32) << np.uint32(16)).view(np.float32)

    def narrow(self, values: np.ndarray, *, toward_zero: bool = False) -> np.ndarray:
        values = np.asarray(values).astype(np.float32, copy=False)
        bits = values.view(np.uint32)
        if not toward_zero:
            bits = bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
        codes = (bits >> np.uint32(16)).astype(np.uint16)
        unknown = np.isnan(values)
        return np.where(unknown, np.uint16(self.nan), codes) if unknown.any() else codes


@dataclass(frozen=True, eq=False)
class _Float8(Format):
    """Sign, exponent, ``mantissa`` bits of fraction. ``largest`` is the code of the largest number.

    The codes after it are NaN, but for ``infinity`` where there is one.
    """

    mantissa: int
    bias: int
    largest: int
    overflow: int
    infinity: int | None = None

    def widen(self, codes: np.ndarray) -> np.ndarray:
        return self._decoding[codes]

    def narrow(self, values: np.ndarray, *, toward_zero: bool = False) -> np.ndarray:
        bits = np.asarray(values).astype(np.float32, copy=False).view(np.uint32)
        # Rounding to odd keeps in 16 bits all that a rounding to so few bits can depend on, and 16 bits make a table.
        upper = (bits >> np.uint32(16)) | ((bits & np.uint32(0xFFFF)) != 0)
        return (self._encoding_toward_zero if toward_zero else self._encoding)[upper]

    @cached_property
    def _magnitudes(self) -> np.ndarray:
        """The numbers that codes 0 to ``_BEYOND`` would be if none of them were special."""
        exponent, fraction = np.divmod(np.arange(_BEYOND + 1), 2**self.mantissa)
        significand = np.where(exponent == 0, fraction, fraction + 2**self.mantissa)
        return np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - self.bias - self.mantissa)

    @cached_property
    def _decoding(self) -> np.ndarray:
        half = self._magnitudes[:_SIGN].copy()
        half[self.largest + 1 :] = np.nan
        if self.infinity is not None:
            half[self.infinity] = np.inf
        table = np.concatenate([half, -half])
        if self.nan == _SIGN:
            table[_SIGN] = np.nan
        return table.astype(np.float32)

    @cached_property
    def _encoding(self) -> np.ndarray:
        below, values = self._floors
        middle = (self._magnitudes[below] + self._magnitudes[np.minimum(below + 1, _BEYOND)]) / 2
        codes = below + ((values > middle) | ((values == middle) & (below % 2 == 1)))
        return self._finish(np.where(codes > self.largest, self.overflow, codes))

    @cached_property
    def _encoding_toward_zero(self) -> np.ndarray:
        below, values = self._floors
        codes = np.minimum(below, self.largest)
        return self._finish(np.where(np.isinf(values), self.overflow, codes))

    @property
    def _floors(self) -> tuple[np.ndarray, np.ndarray]:
        """For every upper half of a float32: the largest code that is not above its magnitude, and the magnitude."""
        upper = np.arange(2**16, dtype=np.uint32)
        with np.errstate(invalid="ignore"):
            values = np.abs((upper << np.uint32(16)).view(np.float32).astype(np.float64))
        return np.searchsorted(self._magnitudes, np.nan_to_num(values), side="right") - 1, values

    def _finish(self, codes: np.ndarray) -> np.ndarray:
        upper = np.arange(2**16)
        codes = np.where((upper & 0x7FFF) > 0x7F80, self.nan, codes)
        negative = upper >= 2**15
        if self.nan == _SIGN:
            negative = negative & (codes != 0)
        return (codes | np.where(negative, _SIGN, 0)).astype(np.uint8)


BFLOAT16 = _BFloat16("bf16", np.uint16, 0x7FC0)

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        BFLOAT16,
        _Float8("fp8e5", np.uint8, 0x7F, mantissa=2, bias=15, largest=0x7B, overflow=0x7C, infinity=0x7C),
        _Float8("fp8e4nv", np.uint8, 0x7F, mantissa=3, bias=7, largest=0x7E, overflow=0x7F),
        _Float8("fp8e5b16", np.uint8, 0x80, mantissa=2, bias=16, largest=0x7F, overflow=0x80),
        _Float8("fp8e4b8", np.uint8, 0x80, mantissa=3, bias=8, largest=0x7F, overflow=0x80),
        _Float8("fp8e4b15", np.uint8, 0x7F, mantissa=3, bias=15, largest=0x7F, overflow=0x7F),
    )
}
"""The narrow formats, by Triton's names."""


def overflowing_to(name: str, code: int) -> Format:
    """Return the float8 format ``name`` with ``code`` for what is too large, or KeyError if there is none."""
    form = FORMATS[name]
    if not isinstance(form, _Float8):
        raise KeyError(f"{name} is no float8 format")
    return replace(form, overflow=code)


def round_to_tf32(values: np.ndarray) -> np.ndarray:
    """Return float32 ``values`` rounded to tf32 (11 significand bits), to nearest with ties to even; NaN stays NaN."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + (np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1)))) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(values), values, rounded.view(np.float32))
