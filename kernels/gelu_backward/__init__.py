"""gelu_backward(grad, x, *, approximate): the gradient of gelu."""

from __future__ import annotations

from typing import Any, ClassVar

from kernels.gelu import Approximated, gelu_slope


class GeluBackward(Approximated):
    """grad times the derivative of gelu or of its approximation; float16 and bfloat16 are computed in float32."""

    name = "gelu_backward"
    policies: ClassVar = {"NaN": "propagates from either", "inf": "open where x is infinite: the formula has no limit"}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reference(self, grad: Any, x: Any, *, approximate: str) -> Any:
        return grad * gelu_slope(x, approximate)
