"""scatter_add(x, index, src): a copy of a matrix with rows added to those that an index names."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from kernels import strategies
from kernels.operation import Operation


class ScatterAdd(Operation):
    """``x`` with row i of ``src`` added to row ``index[i]``, as torch.index_add along axis 0: a new tensor.

    x is (rows, columns), src is (count, columns), index is int64. The sum of a row may be taken in any order. float16
    and bfloat16 are added up in float32 and rounded once: atomics in these types round each addition and depend on
    the order by as much, so that an implementation made of them has to declare it.
    """

    name = "scatter_add"
    dtypes = (*FLOATS, "int64", "int32")
    tensor_dtypes: ClassVar = {"index": "int64"}
    scatters = True
    toothless: ClassVar = {"permuted": "added to one row alone, the same rows in another order have the same sum"}
    policies: ClassVar = {
        "NaN": "a NaN, or infinities of both signs, make NaN of an element, and of no other",
        "repeated indices": "all rows that name the same one are added to it, in any order",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "index out of range": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        rows, count, columns = self.size(case, "rows", "count", "columns")
        if count and not rows:
            raise CaseError(f"scatter_add: {count} rows cannot be added to a matrix without any")
        return {"x": (rows, columns), "index": (count,), "src": (count, columns)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "rows", "columns")

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, self.size(case, "rows")[0]) if tensor == "index" else None

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 1, {"x": 1, "src": 1}

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        *outer, columns = draw(strategies.row_shapes(budget))
        count = int(np.prod(outer, dtype=np.int64))
        # Few rows that many are added to, and many that few are.
        most = max(1, min(budget // max(columns, 1), 70000))
        rows = draw(st.one_of(st.integers(1, min(3, most)), strategies.sizes(most, least=1)))
        return {"rows": rows, "count": count, "columns": columns}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"src": 0}

    def reference(self, x: Any, index: np.ndarray, src: Any) -> Any:
        rows, terms = np.shape(enclosure.numbers(x))[0], enclosure.concatenated([x, src], 0)
        counts, order = np.bincount(index, minlength=rows), np.argsort(index, kind="stable")
        # Rows that as many are added to are summed up together.
        together = [(count, np.flatnonzero(counts == count)) for count in np.unique(counts)]
        starts = np.cumsum(counts) - counts
        sums = []
        for count, some in together:
            added = rows + order[starts[some][:, None] + np.arange(count)]
            mine = enclosure.taken(terms, np.concatenate([some[:, None], added], 1))
            sums.append(enclosure.squeezed(enclosure.total(mine, 1) if count else mine, 1))
        if not sums:
            return x
        placed = np.argsort(np.concatenate([some for _, some in together]))
        return enclosure.taken(enclosure.concatenated(sums, 0), placed)
