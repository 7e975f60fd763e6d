"""rms_norm(x, weight, *, eps): rows with a root mean square of 1, then scaled."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class RmsNorm(Operation):
    """x / sqrt(mean of squares + eps) * weight along the last axis; float16 and bfloat16 are computed in float32.

    Zhang and Sennrich, "Root mean square layer normalization", arXiv:1910.07467.
    """

    name = "rms_norm"
    toothless: ClassVar = {
        "lower inputs": "in rows of one element or of equal ones x cancels, and small whole weights are exact anyway",
    }
    policies: ClassVar = {
        "NaN": "a row that holds a NaN is all NaN",
        "inf": "open: in a row that holds an infinity finite elements become 0, or NaN as the infinite ones do",
        "overflow": "open where squares exceed the range, since the order decides",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.rows(case, "x")
        return {"x": shape, "weight": shape[-1:]}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"x": 0}) if len(self.shape(case, "x")) > 1 else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.normalized(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def reference(self, x: Any, weight: Any, *, eps: float) -> Any:
        scale = enclosure.rsqrt(enclosure.mean(x * x, -1) + enclosure.constant(eps, x))
        numbers = enclosure.numbers(x)
        infinite = np.isinf(numbers).any(-1, keepdims=True) & np.isfinite(numbers)
        return enclosure.opened(enclosure.kept(x * scale) * weight, infinite)
