"""log_softmax_backward(grad, x, *, dim): the gradient of log_softmax."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.case import Case
from kernels.along import Along


class LogSoftmaxBackward(Along):
    """grad - softmax(x) * sum(grad) along ``dim``; float16 and bfloat16 are computed in float32."""

    name = "log_softmax_backward"
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
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reference(self, grad: Any, x: Any, *, dim: int) -> Any:
        away = x - enclosure.amax(x, dim)
        exponentials = enclosure.exp(away)
        total = enclosure.total(exponentials, dim)
        y = enclosure.either(exponentials / total, enclosure.exp(away - enclosure.log(total)))
        return grad - y * enclosure.total(grad, dim)
