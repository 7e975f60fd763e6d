"""add(x, y): the elementwise sum of two tensors, broadcast against each other as in torch."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation


class Add(Operation):
    """Sum of ``x`` and ``y``: one rounding for floating dtypes, two's complement wrap-around for integers."""

    name = "add"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    policies: ClassVar = {
        "NaN": "propagates from either operand",
        "inf - inf": "NaN",
        "signed zero": "open: the sign of a zero result",
        "integer overflow": "wraps around",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = {"x": self.shape(case, "x"), "y": self.shape(case, "y")}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            raise CaseError(f"add: shapes {shapes['x']} and {shapes['y']} do not broadcast") from None
        return shapes

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return np.broadcast_shapes(*self.shapes(case).values())

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        shape = self.output_shape(case)
        whole = {
            name: len(one) == len(shape) and one[0] == shape[0] for name, one in self.shapes(case).items() if shape
        }
        return (0, {name: 0 for name, along in whole.items() if along}) if shape else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        shape = draw(strategies.shapes(budget))
        return {"x": shape, "y": draw(strategies.broadcast_partner(shape))}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, y: Any) -> Any:
        return x + y
