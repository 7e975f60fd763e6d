"""What one rounding may change: of an exact value, which follows from the value and what is stored of it."""

from __future__ import annotations

import numpy as np

from golden.dtypes import DType, decode, ulp


def inexact(value: np.ndarray, tail: np.ndarray | float, nominal: np.ndarray, kind: DType) -> np.ndarray:
    """Return which finite values the dtype cannot hold, so that ``value + tail`` was rounded to ``nominal``."""
    # NumPy compares its own types with float64 as they are.
    stored = nominal if kind.storage.kind == "f" else decode(nominal, kind.name)
    differs = np.zeros(value.shape, bool) if stored is value else np.asarray(stored != value)
    if type(tail) is not float:
        differs |= tail != 0
    return differs & np.isfinite(value) if differs.any() else differs


def bounds(value: np.ndarray, tail: np.ndarray | float, nominal: np.ndarray, kind: DType) -> np.ndarray:
    """Return what rounding ``value + tail`` to ``nominal`` loses at most: nothing where the dtype holds it."""
    rounded = inexact(value, tail, nominal, kind)
    if not rounded.any():
        return np.broadcast_to(0.0, value.shape)
    bound = ulp(value, kind.name)
    bound *= 0.5 * rounded
    return bound
