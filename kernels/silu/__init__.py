"""silu(x): x times its logistic function, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from kernels.elementwise import Elementwise

SATURATED = 64
"""From here on the logistic function of a number is 1 in every dtype, and of its negative 0 beside that."""


def logistic(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    # Written so that no exponential overflows; the error is that of any other way to write it.
    power = enclosure.exp(-enclosure.absolute(x))
    return enclosure.where(enclosure.numbers(x) >= 0, 1.0, power) / (power + 1.0)


def silu(x: Any) -> Any:
    """Return x times its logistic function; open at -inf."""
    return enclosure.opened(x * logistic(x), np.isneginf(enclosure.numbers(x)))


def silu_slope(x: Any) -> Any:
    """Return the derivative of :func:`silu`; open at infinities."""
    share = logistic(x)
    stable = share * (x * logistic(-x) + 1.0)
    rest = 1.0 - share  # what most implementations have for the logistic function of -x, cancellation and all
    usual = enclosure.either(share * (x * rest + 1.0), share + x * share * rest)
    numbers = enclosure.numbers(x)
    slope = enclosure.where(np.abs(numbers) < SATURATED, enclosure.either(stable, usual), stable)
    return enclosure.opened(slope, np.isinf(numbers))


class Silu(Elementwise):
    """x / (1 + exp(-x)); float16 and bfloat16 are computed in float32."""

    name = "silu"
    policies: ClassVar = {"NaN": "propagates", "-inf": "open: the limit is 0, and the formula gives NaN"}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any) -> Any:
        return silu(x)
