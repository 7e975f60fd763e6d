"""grouped_gemm(x, w, group_sizes): rows in groups, each group times a matrix of its own, as experts have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class GroupedGemm(Operation):
    """The first ``group_sizes[0]`` rows of x times w[0], the next ``group_sizes[1]`` times w[1], and so on.

    x is (rows, k), w is (groups, k, n), group_sizes is int32 and sums to the rows; groups may be empty. float16 and
    bfloat16 are accumulated in float32. (Mixtures of experts, Gale et al., "MegaBlocks", MLSys 2023.)
    """

    name = "grouped_gemm"
    multiplies_matrices = True
    tensor_dtypes: ClassVar = {"group_sizes": "int32"}
    policies: ClassVar = {
        "NaN": "a NaN in a row of x, or in a column of its group's matrix, makes NaN; those of other groups do not",
        "inf": "0 * inf and inf - inf are NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "a group of no rows gives none, and its matrix is not used; k = 0 gives zeros",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        n, k = self.size(case, "n", "k")
        groups = self.shape(case, "groups")
        if not groups:
            raise CaseError("grouped_gemm needs dims.groups, the sizes of one group or more")
        return {"x": (sum(groups), k), "w": (len(groups), k, n), "group_sizes": (len(groups),)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return sum(self.shape(case, "groups")), *self.size(case, "n")

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        return self.shape(case, "groups") if tensor == "group_sizes" else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        rows, n, k = draw(strategies.matrix_sizes(budget))
        most = max(1, min(budget // max(n * k, 1), 16))
        # Borders of groups, drawn so that some fall together: the groups between these are empty.
        inner = draw(st.lists(st.one_of(st.sampled_from([0, rows]), st.integers(0, rows)), max_size=most - 1))
        borders = [0, *sorted(inner), rows]
        return {"groups": [int(size) for size in np.diff(borders)], "n": n, "k": k}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 1, {"w": 2}

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1, "w": -2}

    def reference(self, x: Any, w: Any, group_sizes: np.ndarray) -> Any:
        ends = np.cumsum(group_sizes)
        products = [
            enclosure.matmul(enclosure.taken(x, slice(end - size, end)), enclosure.taken(w, group))
            for group, (size, end) in enumerate(zip(group_sizes, ends, strict=True))
        ]
        return enclosure.concatenated(products, 0)
