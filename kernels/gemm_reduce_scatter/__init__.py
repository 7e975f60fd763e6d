"""gemm_reduce_scatter(a, b): the sum over ranks of their matrix products, some rows of it on each rank."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from golden.dtypes import FLOATS
from kernels import spread, strategies


class GemmReduceScatter(spread.Spread):
    """Of the sum of a @ b over ranks, with a of (ranks * m, k) and b of (k, n) on each, m rows for each rank.

    A rank may round its product to the tensors' dtype before it is sent.
    """

    name = "gemm_reduce_scatter"
    dtypes = tuple(dtype for dtype in spread.DTYPES if dtype in FLOATS)
    multiplies_matrices = True
    policies: ClassVar = {
        "NaN": "a NaN in a row of a or a column of b makes every element of their product NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "k = 0 gives zeros",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, (m, n, k) = self.ranks(case), self.size(case, "m", "n", "k")
        return {"a": (ranks, ranks * m, k), "b": (ranks, k, n)}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return self.size(case, "m", "n")

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
        ranks = a.shape[0]
        products = spread.sent(enclosure.matmul(*spread.in_float32(a, b)), a)
        whole = enclosure.squeezed(enclosure.total(products, 0), 0)
        m = whole.shape[0] // ranks
        return tuple(enclosure.taken(whole, slice(rank * m, (rank + 1) * m)) for rank in range(ranks))
