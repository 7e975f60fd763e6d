"""transpose(x): the last two axes in each other's place."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation
from kernels.relations import scaled


class Transpose(Operation):
    """``x`` (two axes or more) with its last two axes swapped, as a new contiguous tensor: elements as they are."""

    name = "transpose"
    dtypes = (*FLOATS, "int64", "int32", "int8")
    policies: ClassVar = {
        "NaN": "stays NaN",
        "signed zero": "open: zeros are moved, and nobody asks for their sign",
        "empty": "an axis of length 0 gives an empty result, with the axes swapped",
    }
    relations: ClassVar = {"x twice": scaled("x")}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.shape(case, "x")
        if len(shape) < 2:
            raise CaseError(f"transpose needs two axes or more, not dims.x = {list(shape)}")
        return {"x": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        *outer, rows, columns = self.shape(case, "x")
        return (*outer, columns, rows)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return -2, {"x": -1}

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        many = [[rows] for rows in strategies.MANY if 4 * rows <= budget]
        outer = draw(st.sampled_from([[], [], [1], [2], [3], [2, 3], [1, 1], [5], *many]))
        matrix = draw(strategies.shapes(max(budget // math.prod(outer), 1), ranks=(2,)))
        return {"x": [*outer, *matrix]}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any) -> Any:
        return enclosure.swapped(x, -1, -2)
