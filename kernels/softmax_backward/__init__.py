"""softmax_backward(grad, x, *, dim): the gradient of softmax."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.case import Case
from kernels.along import Along


class SoftmaxBackward(Along):
    """y * (grad - sum(grad * y)) along ``dim``, where y is the softmax of ``x``; narrow types in float32."""

    name = "softmax_backward"
    neutral = float("-inf")
    policies: ClassVar = {
        "NaN": "a row that holds a NaN, in either tensor, is all NaN",
        "inf": "a row of x that holds +inf is all NaN; where grad is infinite, as IEEE 754 has the formula",
        "fully masked": "a row of x that is -inf alone is all NaN",
        "empty": "an axis of length 0 gives an empty result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = super().shapes(case)
        return {"grad": shapes["x"], "x": shapes["x"]}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        regimes = self.without_overflow(super().regimes(dtype, tensor), dtype)
        return self.without_flushed(regimes, dtype) if tensor == "grad" else regimes

    def reference(self, grad: Any, x: Any, *, dim: int) -> Any:
        exponentials = enclosure.exp(x - enclosure.amax(x, dim))
        y = enclosure.kept(exponentials / enclosure.total(exponentials, dim))
        inner = enclosure.total(grad * y, dim)
        return enclosure.either(y * (grad - inner), y * grad - y * inner)
