"""layer_norm_backward(grad, x, weight, bias, *, eps): the gradients of layer_norm."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, Form
from kernels import strategies
from kernels.operation import Operation


class LayerNormBackward(Operation):
    """With r = 1 / sqrt(variance + eps) and n = (x - mean) * r along the last axis, the gradients of all three.

    That of x is r * (dy - mean(dy) - n * mean(dy * n)) with dy = grad * weight, that of weight the sum of grad * n over
    all rows, that of bias the sum of grad. float16 and bfloat16 are computed in float32. Bounds grant sums of dy * x
    from which the mean is taken afterwards, which cancel where it is large beside the deviations.
    """

    name = "layer_norm_backward"
    policies: ClassVar = {
        "NaN": "a NaN of x or grad makes its row of the first result NaN, and a NaN of weight all of it; one of x all "
        "of the second; one of grad its column of the second and the third",
        "inf": "a row of x that holds one is NaN, as is all of the second result then; the first is open in rows where "
        "grad or weight is infinite",
        "overflow": "open where squares and products exceed the range, since the order decides",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.rows(case, "x")
        return {"grad": shape, "x": shape, "weight": shape[-1:], "bias": shape[-1:]}

    def results(self, case: Case) -> dict[str, Form]:
        shape = self.rows(case, "x")
        column = Form(shape[-1:], case.dtype)
        return {"x": Form(shape, case.dtype), "weight": column, "bias": column}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.normalized(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        regimes = self.without_overflow(super().regimes(dtype, tensor), dtype)
        return self.without_flushed(regimes, dtype) if tensor == "grad" else regimes

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def reference(self, grad: Any, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
        mean = enclosure.mean(x, -1, running=True)
        centred = x - mean
        r = enclosure.rsqrt(enclosure.mean(centred * centred, -1, running=True) + enclosure.constant(eps, x))
        n = enclosure.kept(enclosure.either(centred * r, x * r - mean * r))
        dy = grad * weight
        mean_dy = enclosure.mean(dy, -1)
        slope = r * r * r * (mean_dy * mean - enclosure.mean(dy * x, -1))
        of_x = enclosure.either(
            r * (dy - mean_dy - n * enclosure.mean(dy * n, -1)), r * dy + slope * x - (slope * mean + mean_dy * r)
        )
        infinite = np.isinf(enclosure.numbers(dy)).any(-1, keepdims=True)
        rows = (-1, x.shape[-1])
        of_weight = enclosure.total(enclosure.reshaped(grad * n, rows), 0)
        of_bias = enclosure.total(enclosure.reshaped(grad, rows), 0)
        return enclosure.opened(of_x, infinite), enclosure.squeezed(of_weight, 0), enclosure.squeezed(of_bias, 0)
