"""index_copy(x, index, src): a copy of a matrix with some of its rows replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.inputs import Words
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation


class IndexCopy(Operation):
    """``x`` with row ``index[i]`` replaced by row i of ``src``: a new tensor, elements as they are.

    x is (rows, columns), src is (count, columns), index (int64) names ``count`` rows, no two of them the same.
    """

    name = "index_copy"
    dtypes = (*FLOATS, "int64", "int32", "int8")
    tensor_dtypes: ClassVar = {"index": "int64"}
    policies: ClassVar = {
        "NaN": "stays NaN, and stays in its row",
        "repeated indices": "not a valid input",
        "index out of range": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        rows, count, columns = self.size(case, "rows", "count", "columns")
        if count > rows:
            raise CaseError(f"index_copy cannot replace {count} different rows of {rows}")
        return {"x": (rows, columns), "index": (count,), "src": (count, columns)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "rows", "columns")

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        """Return the first rows of a random order of them all, drawn from the case's seed."""
        if tensor != "index":
            return None
        rows, count = self.size(case, "rows", "count")
        return np.argsort(Words(case.seed, "index").take(rows), kind="stable")[:count].tolist()

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 1, {"x": 1, "src": 1}

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        *outer, columns = draw(strategies.row_shapes(budget))
        rows = int(np.prod(outer, dtype=np.int64))
        return {"rows": rows, "count": draw(strategies.sizes(rows)), "columns": columns}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, index: np.ndarray, src: Any) -> Any:
        rows = np.arange(np.shape(enclosure.numbers(x))[0])
        rows[index] = rows.size + np.arange(index.size)
        return enclosure.taken(enclosure.concatenated([x, src], 0), rows)
