"""tanh(x): the hyperbolic tangent, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from kernels.elementwise import Elementwise


class Tanh(Elementwise):
    """The hyperbolic tangent of each element; float16 and bfloat16 are computed in float32."""

    name = "tanh"
    policies: ClassVar = {"NaN": "propagates", "inf": "has the function's limits"}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any) -> Any:
        return enclosure.tanh(x)
