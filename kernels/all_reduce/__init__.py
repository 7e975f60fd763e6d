"""all_reduce(x, *, op): the elementwise reduction of the tensors of all ranks, on every rank."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden.case import Case
from kernels import spread


class AllReduce(spread.Spread):
    """The sum, maximum, minimum or mean over ranks; narrow floats are added up in float32."""

    name = "all_reduce"
    alike = True
    policies: ClassVar = {
        "NaN": "a NaN, or infinities of both signs, make a sum NaN; open: a NaN in max and min",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "signed zero": "open: the sign of a zero result",
        "avg": "open: of integers, which some backends refuse",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"x": (self.ranks(case), *self.shape(case, "x"))}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return self.shape(case, "x")

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        shape = draw(spread.messages(ranks, budget))
        return {"ranks": ranks, "x": shape}, {"op": draw(st.sampled_from(("sum", "sum", *spread.REDUCTIONS)))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": 0}

    def reference(self, x: Any, *, op: str) -> Any:
        return (spread.reduced(x, op),) * x.shape[0]
