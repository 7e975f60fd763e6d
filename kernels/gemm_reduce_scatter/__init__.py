"""gemm_reduce_scatter(a, b): the sum over ranks of their matrix products, some rows of it on each rank."""

from __future__ import annotations

from typing import Any

from golden import enclosure
from golden.case import Case
from kernels import spread


class GemmReduceScatter(spread.Product):
    """Of the sum of a @ b over ranks, with a of (ranks * m, k) and b of (k, n) on each, m rows for each rank.

    A rank may round its product to the tensors' dtype before it is sent.
    """

    name = "gemm_reduce_scatter"

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, (m, n, k) = self.ranks(case), self.size(case, "m", "n", "k")
        return {"a": (ranks, ranks * m, k), "b": (ranks, k, n)}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return self.size(case, "m", "n")

    def reference(self, a: Any, b: Any) -> Any:
        ranks = a.shape[0]
        products = spread.sent(enclosure.matmul(*spread.in_float32(a, b)), a)
        whole = enclosure.squeezed(enclosure.total(products, 0), 0)
        m = whole.shape[0] // ranks
        return tuple(enclosure.taken(whole, slice(rank * m, (rank + 1) * m)) for rank in range(ranks))
