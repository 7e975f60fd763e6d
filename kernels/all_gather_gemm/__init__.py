"""all_gather_gemm(a, b): the rows of all ranks, gathered, times each rank's own matrix."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from golden.dtypes import FLOATS
from kernels import spread, strategies


class AllGatherGemm(spread.Spread):
    """Of the ``a`` of all ranks, (m, k) each, below each other, the product with this rank's ``b``, (k, n)."""

    name = "all_gather_gemm"
    dtypes = tuple(dtype for dtype in spread.DTYPES if dtype in FLOATS)
    multiplies_matrices = True
    policies: ClassVar = {
        "NaN": "a NaN in a row of a or a column of b makes every element of their product NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "k = 0 gives zeros",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, (m, n, k) = self.ranks(case), self.size(case, "m", "n", "k")
        return {"a": (ranks, m, k), "b": (ranks, k, n)}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        m, n = self.size(case, "m", "n")
        return (self.ranks(case) * m, n)

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        m, n, k = draw(strategies.matrix_sizes(max(1, budget // ranks**2)))
        return {"ranks": ranks, "m": m, "n": n, "k": k}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1, "b": -2}

    def reference(self, a: Any, b: Any) -> Any:
        ranks, m, k = a.shape
        rows = enclosure.reshaped(a, (ranks * m, k))
        return tuple(enclosure.matmul(rows, enclosure.taken(b, rank)) for rank in range(ranks))
