"""add(x, y): the elementwise sum of two tensors, broadcast against each other as in torch."""

from __future__ import annotations

from typing import Any, ClassVar

from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels.elementwise import Broadcast


class Add(Broadcast):
    """Sum of ``x`` and ``y``: one rounding for floating dtypes, two's complement wrap-around for integers."""

    name = "add"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    policies: ClassVar = {
        "NaN": "propagates from either operand",
        "inf - inf": "NaN",
        "signed zero": "open: the sign of a zero result",
        "integer overflow": "wraps around",
    }

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, y: Any) -> Any:
        return x + y
