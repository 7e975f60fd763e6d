"""Arrays that take memory only where they are touched, and may be larger than the memory there is."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

_SMALL = 2**26  # bytes; up to here a plain array is cheaper


def sparse_zeros(count: int, dtype: Any) -> np.ndarray:
    """Return ``count`` zeros of ``dtype``; raises OSError or MemoryError where there are not the addresses for them."""
    size = count * np.dtype(dtype).itemsize
    if size <= _SMALL or not hasattr(os, "memfd_create"):
        return np.zeros(count, dtype)
    # Of plain memory the system promises no more than there is. Of a file it promises nothing beforehand.
    file = os.memfd_create("sparse")
    try:
        os.ftruncate(file, size)
        return np.frombuffer(mmap.mmap(file, size), dtype)
    finally:
        os.close(file)
