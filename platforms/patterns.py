"""Bit patterns that no kernel writes by chance, to fill memory with before a kernel runs.

For floating dtypes they are quiet NaNs with a payload, so that what reads them shows in its result, and arithmetic,
which makes other NaNs, does not bring them back. For integers, and for float8, whose NaN has no room for
a payload, they are unlikely numbers; in one byte none is unlikely enough, so whoever finds :data:`POISON` in a result
must look again with :data:`OTHER_POISON` there. :data:`NUMBER` is what its name says, in every dtype.
"""

from __future__ import annotations

import functools

import numpy as np
import torch

CANARY, POISON, OTHER_POISON, NUMBER = 0x6D, 0xB2, 0xD5, 0x3C
"""Around tensors; in memory that a kernel has yet to write; there, the second time; around tensors, the second time."""

_PAYLOAD_BITS = {torch.float64: 51, torch.float32: 22, torch.float16: 9, torch.bfloat16: 6}
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@functools.cache
def pattern(dtype: torch.dtype, byte: int) -> int:
    """Return the bits of one element of ``dtype`` made of ``byte``, one of those above, as an unsigned integer."""
    repeated = int.from_bytes(bytes([byte]) * dtype.itemsize, "little")
    if dtype not in _PAYLOAD_BITS or byte == NUMBER:
        return repeated
    payload = _PAYLOAD_BITS[dtype]
    quiet_nan = ((1 << (8 * dtype.itemsize - 1)) - 1) >> payload << payload
    return quiet_nan | (repeated & ((1 << payload) - 1))


def integer_type(dtype: torch.dtype) -> torch.dtype:
    """Return torch's signed integer type that is as wide as ``dtype``, to see its bits through; raises KeyError."""
    return _INTEGERS[dtype.itemsize]


@functools.cache
def signed(dtype: torch.dtype, byte: int) -> int:
    """Return :func:`pattern` as a value of :func:`integer_type`."""
    bits, width = pattern(dtype, byte), 8 * dtype.itemsize
    return bits - (1 << width) if bits >> (width - 1) else bits


@functools.cache
def unsigned_storage(dtype: torch.dtype) -> np.dtype:
    """Return NumPy's unsigned integer type that is as wide as ``dtype``."""
    return np.dtype(f"u{dtype.itemsize}")
