"""rms_norm_backward(grad, x, weight, *, eps): the gradients of rms_norm."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, Form
from kernels import strategies
from kernels.operation import Operation


class RmsNormBackward(Operation):
    """With r = 1 / sqrt(mean of squares + eps) and n = x * r along the last axis, the gradients of x and of weight.

    That of x is r * (grad * weight - n * mean(grad * weight * n)), that of weight the sum of grad * n over all rows.
    float16 and bfloat16 are computed in float32.
    """

    name = "rms_norm_backward"
    policies: ClassVar = {
        "NaN": "a NaN of x or grad makes its row of the first result NaN, and a NaN of weight all of it; in the second "
        "one of grad makes its column NaN, one of x everything",
        "inf": "open in rows of the first result where x, grad or weight is infinite, and in the second if x is",
        "overflow": "open where squares and products exceed the range, since the order decides",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.rows(case, "x")
        return {"grad": shape, "x": shape, "weight": shape[-1:]}

    def results(self, case: Case) -> dict[str, Form]:
        shape = self.rows(case, "x")
        return {"x": Form(shape, case.dtype), "weight": Form(shape[-1:], case.dtype)}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.normalized(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        regimes = self.without_overflow(super().regimes(dtype, tensor), dtype)
        return self.without_flushed(regimes, dtype) if tensor == "grad" else regimes

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def reference(self, grad: Any, x: Any, weight: Any, *, eps: float) -> Any:
        r = enclosure.rsqrt(enclosure.mean(x * x, -1) + enclosure.constant(eps, x))
        n, dy = enclosure.kept(x * r), grad * weight
        of_x = enclosure.either(
            r * (dy - n * enclosure.mean(dy * n, -1)), r * dy - x * (r * r * r * enclosure.mean(dy * x, -1))
        )
        infinite, beside = (np.isinf(enclosure.numbers(one)).any(-1, keepdims=True) for one in (x, dy))
        columns = enclosure.reshaped(grad * n, (-1, x.shape[-1]))
        of_weight = enclosure.squeezed(enclosure.total(columns, 0), 0)
        return enclosure.opened(of_x, infinite | beside), enclosure.opened(of_weight, infinite.any())
