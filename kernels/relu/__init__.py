"""relu(x): the larger of x and zero, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation


class Relu(Operation):
    """max(x, 0): a selection, so the result is exact."""

    name = "relu"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    policies: ClassVar = {
        "NaN": "propagates",
        "signed zero": "relu(-0.0) may be either zero; its sign is recorded, not judged",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"x": self.shape(case, "x")}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.shapes(budget).map(lambda shape: ({"x": shape}, {}))

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any) -> Any:
        return enclosure.maximum(x, 0)
