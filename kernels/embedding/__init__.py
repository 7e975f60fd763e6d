"""embedding(table, index): the rows of a table that an index names."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation


class Embedding(Operation):
    """``table[index]``: table is (rows, columns), index (int64) has any shape; elements as they are."""

    name = "embedding"
    dtypes = (*FLOATS, "int64", "int32", "int8")
    tensor_dtypes: ClassVar = {"index": "int64"}
    policies: ClassVar = {
        "NaN": "stays NaN, and stays in the rows that name it",
        "repeated indices": "give the same row again",
        "index out of range": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        (rows, columns), shape = self.size(case, "rows", "columns"), self.shape(case, "index")
        if not rows and 0 not in shape:
            raise CaseError(f"embedding: an index of shape {list(shape)} needs a table of one row or more")
        return {"table": (rows, columns), "index": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return (*self.shape(case, "index"), *self.size(case, "columns"))

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, self.size(case, "rows")[0]) if tensor == "index" else None

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"index": 0}) if self.shape(case, "index") else (0, {"table": 1})

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        *shape, columns = draw(strategies.row_shapes(budget))
        room = max(1, min(budget // max(columns, 1), 70000))
        rows = draw(st.one_of(strategies.sizes(room, least=1), st.just(room)))  # an index of 16 bits ends within it
        return {"rows": rows, "columns": columns, "index": shape}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, table: Any, index: np.ndarray) -> Any:
        return enclosure.taken(table, index)
