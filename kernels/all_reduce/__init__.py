"""all_reduce(x, *, op): the elementwise reduction of the tensors of all ranks, on every rank."""

from __future__ import annotations

from typing import Any

from kernels import spread


class AllReduce(spread.Reduction):
    """The sum, maximum, minimum or mean over ranks."""

    name = "all_reduce"
    alike = True

    def reference(self, x: Any, *, op: str) -> Any:
        return (spread.reduced(x, op),) * x.shape[0]
