"""all_gather(x): the tensors of all ranks, one after the other along a new leading axis, on every rank."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from golden.precision import Precision
from kernels import spread


class AllGather(spread.Spread):
    """Elements are moved, and nothing is computed: every bit arrives as it was, of a NaN that it is one."""

    name = "all_gather"
    dtypes = spread.MOVED
    alike = True
    policies: ClassVar = {"NaN": "stays a NaN", "signed zero": "stays as it is"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"x": (self.ranks(case), *self.shape(case, "x"))}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return (self.ranks(case), *self.shape(case, "x"))

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        # What all receive together is larger by another factor.
        return {"ranks": ranks, "x": draw(spread.messages(ranks * ranks, budget))}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any) -> Any:
        return (enclosure.taken(x, slice(None)),) * x.shape[0]
