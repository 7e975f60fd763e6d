"""silu(x): x times its logistic function, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from kernels.elementwise import Elementwise


class Silu(Elementwise):
    """x / (1 + exp(-x)); float16 and bfloat16 are computed in float32."""

    name = "silu"
    policies: ClassVar = {"NaN": "propagates", "-inf": "open: the limit is 0, and the formula gives NaN"}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any) -> Any:
        # Written so that no exponential overflows; the error is that of any other way to write it.
        power = enclosure.exp(-enclosure.absolute(x))
        logistic = enclosure.where(enclosure.numbers(x) >= 0, 1.0, power) / (power + 1.0)
        return enclosure.opened(x * logistic, np.isneginf(enclosure.numbers(x)))
