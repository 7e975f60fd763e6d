"""What references are written with: arrays that know how wrong a correct kernel may be, and the functions on them.

A contract's formula is written once with these functions and the operators of :class:`Enclosure`. They take plain
float64 arrays as well, and then return plain results.
"""

from __future__ import annotations

from golden.enclosure.array import Enclosure, constant, either, numbers, opened, rounded, settled
from golden.enclosure.elementwise import (
    absolute,
    cos,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    kept,
    log,
    log1p,
    log2,
    maximum,
    minimum,
    nearest_in,
    nearest_integer,
    rsqrt,
    sin,
    sqrt,
    tanh,
    toward_zero,
    where,
)
from golden.enclosure.movement import broadcast, concatenated, repeated, reshaped, squeezed, swapped, taken, windows
from golden.enclosure.products import averaged, matmul
from golden.enclosure.recurrences import linear_recurrence
from golden.enclosure.reductions import amax, cumulative, mean, total

__all__ = [
    "Enclosure",
    "absolute",
    "amax",
    "averaged",
    "broadcast",
    "concatenated",
    "constant",
    "cos",
    "cumulative",
    "either",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "kept",
    "linear_recurrence",
    "log",
    "log1p",
    "log2",
    "matmul",
    "maximum",
    "mean",
    "minimum",
    "nearest_in",
    "nearest_integer",
    "numbers",
    "opened",
    "repeated",
    "reshaped",
    "rounded",
    "rsqrt",
    "settled",
    "sin",
    "sqrt",
    "squeezed",
    "swapped",
    "taken",
    "tanh",
    "total",
    "toward_zero",
    "where",
    "windows",
]
