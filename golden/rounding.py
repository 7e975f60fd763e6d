"""Rounding a float64 to fewer significand bits, as narrower formats and matrix units do.

Everything is done on float64 arrays with integer and power-of-two arithmetic, so the results are the same on every
machine. The modes are those that hardware uses: ``nearest`` (ties to even, IEEE 754 roundTiesToEven), ``away``
(nearest, ties away from zero, as ``cvt.rna`` does) and ``truncated`` (toward zero).
"""

from __future__ import annotations

import numpy as np

MODES = ("nearest", "away", "truncated")

_SIGNIFICAND = 53


def round_significand(x: np.ndarray, bits: int, mode: str = "nearest") -> np.ndarray:
    """Return float64 ``x`` rounded to ``bits`` significand bits (the leading one counted), exponent range unlimited.

    NaN and infinities pass unchanged. ``bits`` is 1 to 53; raises ValueError for another value or an unknown mode.
    """
    if not 1 <= bits <= _SIGNIFICAND:
        raise ValueError(f"bits must be 1 to {_SIGNIFICAND}, not {bits}")
    if mode not in MODES:
        raise ValueError(f"unknown rounding mode {mode!r}; there are {', '.join(MODES)}")
    x = np.asarray(x, dtype=np.float64)
    drop = _SIGNIFICAND - bits
    if drop == 0:
        return x.copy()
    codes = x.view(np.int64)
    mask = np.int64(-1) << np.int64(drop)
    if mode == "truncated":
        rounded = codes & mask
    else:
        half = np.int64(1) << np.int64(drop - 1)
        # Adding to the code carries from significand into exponent, which is just what rounding up a binade needs.
        bump = half if mode == "away" else half - 1 + ((codes >> np.int64(drop)) & 1)
        rounded = (codes + bump) & mask
    return np.where(np.isfinite(x), rounded.view(np.float64), x)


def round_to_format(x: np.ndarray, bits: int, emin: int, largest: float, mode: str = "nearest") -> np.ndarray:
    """Return float64 ``x`` rounded once to a binary format with subnormals, as float64 values of that format.

    ``bits`` is the format's precision, ``2**emin`` its smallest normal number and ``largest`` its largest finite one.
    What rounds beyond ``largest`` becomes an infinity, or ``largest`` when the mode is ``truncated``.
    """
    x = np.asarray(x, dtype=np.float64)
    rounded = round_significand(x, bits, mode)
    tiny = np.abs(x) < 2.0**emin
    if tiny.any():
        rounded = np.where(tiny, _round_to_quantum(x, emin - bits + 1, mode), rounded)
    over = np.isfinite(x) & (np.abs(rounded) > largest)
    if over.any():
        rounded = np.where(over, np.copysign(largest if mode == "truncated" else np.inf, x), rounded)
    return rounded


def _round_to_quantum(x: np.ndarray, exponent: int, mode: str) -> np.ndarray:
    """Round to a multiple of ``2**exponent``; zeros keep their sign."""
    scaled = np.ldexp(np.where(np.isfinite(x), x, 0.0), -exponent)
    if mode == "truncated":
        whole = np.trunc(scaled)
    elif mode == "away":
        whole = np.trunc(scaled + np.copysign(0.5, scaled))
    else:
        whole = np.rint(scaled)
    return np.copysign(np.ldexp(np.abs(whole), exponent), x)
