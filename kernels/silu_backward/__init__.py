"""silu_backward(grad, x): the gradient of silu."""

from __future__ import annotations

from typing import Any, ClassVar

from kernels.elementwise import Elementwise
from kernels.silu import silu_slope


class SiluBackward(Elementwise):
    """grad s (1 + x (1 - s)) with s = 1 / (1 + exp(-x)); float16 and bfloat16 are computed in float32."""

    name = "silu_backward"
    policies: ClassVar = {"NaN": "propagates from either", "inf": "open where x is infinite: the formula has no limit"}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(self.without_flushed(super().regimes(dtype, tensor), dtype), dtype)

    def reference(self, grad: Any, x: Any) -> Any:
        return grad * silu_slope(x)
