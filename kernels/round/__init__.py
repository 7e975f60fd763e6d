"""round(x): the nearest whole number, the even one of two as near, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.precision import Precision
from kernels.elementwise import Elementwise


class Round(Elementwise):
    """IEEE 754 roundToIntegralTiesToEven: exact."""

    name = "round"
    policies: ClassVar = {
        "NaN": "propagates",
        "inf": "stays",
        "signed zero": "open: the sign of a zero result",
    }

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return (*super().regimes(dtype, tensor), "halves")

    def reference(self, x: Any) -> Any:
        return enclosure.nearest_integer(x)
