"""relu(x): the larger of x and zero, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels.elementwise import Elementwise
from kernels.relations import scaled


class Relu(Elementwise):
    """max(x, 0): a selection, so the result is exact."""

    name = "relu"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    policies: ClassVar = {
        "NaN": "propagates",
        "signed zero": "open: relu(-0.0) is either zero",
    }
    relations: ClassVar = {"x twice": scaled("x")}

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any) -> Any:
        return enclosure.maximum(x, 0)
