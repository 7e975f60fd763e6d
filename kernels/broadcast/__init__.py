"""broadcast(x, *, source): the tensor of rank ``source``, on every rank."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.precision import Precision
from kernels import spread


class Broadcast(spread.Spread):
    """Elements are moved, and nothing is computed; what the other ranks hold takes no part."""

    name = "broadcast"
    dtypes = spread.MOVED
    alike = True
    toothless: ClassVar = {"lower inputs": "of one rank alone"}
    policies: ClassVar = {"NaN": "stays a NaN", "signed zero": "stays as it is"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, source = self.ranks(case), case.params.get("source")
        if not isinstance(source, int) or not 0 <= source < ranks:
            raise CaseError(f"broadcast needs params.source, one of {ranks} ranks, not {source!r}")
        return {"x": (ranks, *self.shape(case, "x"))}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return self.shape(case, "x")

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        dims = {"ranks": ranks, "x": draw(spread.messages(ranks, budget))}
        return dims, {"source": draw(st.integers(0, ranks - 1))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, *, source: int) -> Any:
        return (enclosure.taken(x, source),) * x.shape[0]
