"""all_gather_gemm(a, b): the rows of all ranks, gathered, times each rank's own matrix."""

from __future__ import annotations

from typing import Any

from golden import enclosure
from golden.case import Case
from kernels import spread


class AllGatherGemm(spread.Product):
    """Of the ``a`` of all ranks, (m, k) each, below each other, the product with this rank's ``b``, (k, n)."""

    name = "all_gather_gemm"

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, (m, n, k) = self.ranks(case), self.size(case, "m", "n", "k")
        return {"a": (ranks, m, k), "b": (ranks, k, n)}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        m, n = self.size(case, "m", "n")
        return (self.ranks(case) * m, n)

    def reference(self, a: Any, b: Any) -> Any:
        ranks, m, k = a.shape
        rows = enclosure.reshaped(a, (ranks * m, k))
        return tuple(enclosure.matmul(rows, enclosure.taken(b, rank)) for rank in range(ranks))
