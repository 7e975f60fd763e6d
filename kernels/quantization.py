"""What the contracts of quantization have in common: rows of numbers, and a scale for each row, of caches too."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class RowScaled(Operation, abstract=True):
    """x / scale, element by element; ``scale`` is float32 and has the shape of x without its last axis."""

    dtypes: ClassVar = ("float32", "float16", "bfloat16")
    tensor_dtypes: ClassVar = {"scale": "float32"}
    also_drawn: ClassVar = {"x": ("halves",), "scale": ("integers", "integers")}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.rows(case, "x")
        return {"x": shape, "scale": shape[:-1]}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.rows(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"x": 0, "scale": 0}) if len(self.rows(case, "x")) > 1 else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.row_shapes(budget).map(lambda shape: ({"x": [*shape[:-1], max(shape[-1], 1)]}, {}))

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        # Small whole numbers have powers of two among them, by which every division is exact, so that ties are judged.
        return ("positive", "integers", "wide") if tensor == "scale" else super().regimes(dtype, tensor)


CACHE_DTYPES = ("float32", "float16", "bfloat16")
"""The dtypes of queries to caches of int8."""

CACHE_SCALES = ("steps", "nan")
"""Where scales of caches come from: scores stay within what an exponential can tell apart, or a NaN spoils them."""


def dequantized(cache: np.ndarray, scale: Any) -> Any:
    """Return the numbers of a cache of int8, each vector along its last axis times its scale."""
    return cache.astype(np.float64) * enclosure.reshaped(scale, (*enclosure.numbers(scale).shape, 1))


def quotient(x: Any, scale: Any) -> Any:
    """Return ``x`` over the scale of its row; implementations may multiply by the reciprocal. Open where that is 0.

    A division by a power of two is exact.
    """
    scale = enclosure.reshaped(scale, (*enclosure.numbers(scale).shape, 1))
    divisor = enclosure.numbers(scale)
    divided = enclosure.either(x / scale, x * (1.0 / scale))
    exact = enclosure.numbers(x) / divisor
    power_of_two = np.abs(np.frexp(divisor)[0]) == 0.5
    held = (exact.astype(np.float32) == exact) & (np.abs(exact) >= np.finfo(np.float32).tiny)
    return enclosure.opened(enclosure.where(power_of_two & held, exact, divided), divisor == 0)
