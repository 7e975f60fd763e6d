"""causal_softmax(x): a softmax over the columns up to the diagonal, in rows of square matrices."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation
from kernels.relations import shifted


class CausalSoftmax(Operation):
    """softmax along the last axis of (..., S, S), where row i sees columns 0 to i; the others are 0.

    float16 and bfloat16 are computed in float32.
    """

    name = "causal_softmax"
    neutral = float("-inf")
    policies: ClassVar = {
        "unseen": "columns beyond the diagonal are not looked at: they are 0, whatever they hold",
        "NaN": "where a row sees a NaN or +inf, all that it sees becomes NaN, and what it does not see is open",
        "fully masked": "a row that sees nothing but -inf is NaN where it sees, and open elsewhere",
        "empty": "matrices of no rows give an empty result",
    }
    relations: ClassVar = {"x and 1": shifted("x")}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.shape(case, "x")
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise CaseError(f"{self.name} needs dims.x, a shape that ends in two equal sizes, not {list(shape)}")
        return {"x": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"x": 0}) if len(self.shape(case, "x")) > 2 else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        outer = draw(strategies.shapes(max(budget // 64, 1), ranks=(0, 1, 1, 2)))
        room = budget // max(int(np.prod(outer, dtype=np.int64)), 1)
        side = draw(strategies.sizes(max(int(room**0.5), 1), least=draw(st.sampled_from([1, 1, 1, 0]))))
        return {"x": [*outer, side, side]}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def reference(self, x: Any) -> Any:
        seen = np.tri(x.shape[-1], dtype=bool)
        visible = enclosure.where(seen, x, -np.inf)
        exponentials = enclosure.kept(enclosure.exp(visible - enclosure.amax(visible, -1)))
        shares = exponentials / enclosure.total(exponentials, -1)
        lost = np.isnan(enclosure.numbers(shares)).any(-1, keepdims=True)
        return enclosure.opened(enclosure.where(seen, shares, 0.0), ~seen & lost)
