"""reduce_scatter(x, *, op): the elementwise reduction of the tensors of all ranks, a part of it on each rank."""

from __future__ import annotations

from typing import Any

from golden import enclosure
from kernels import spread


class ReduceScatter(spread.Reduction):
    """Each rank holds a part for every rank, along the leading axis of ``x``, and gets the reduction of its own."""

    name = "reduce_scatter"
    parts = True

    def reference(self, x: Any, *, op: str) -> Any:
        whole = spread.reduced(x, op)
        return tuple(enclosure.taken(whole, rank) for rank in range(x.shape[0]))
