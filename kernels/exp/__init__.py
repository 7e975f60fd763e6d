"""exp(x): the exponential, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from kernels.elementwise import Elementwise


class Exp(Elementwise):
    """The exponential of each element; float16 and bfloat16 are computed in float32."""

    name = "exp"
    also_drawn: ClassVar = {"x": ("logarithms",)}
    policies: ClassVar = {"NaN": "propagates", "inf": "has the function's limits"}

    def reference(self, x: Any) -> Any:
        return enclosure.exp(x)
