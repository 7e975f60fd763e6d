"""linear_scan(a, b): the states of a linear recurrence along the last axis."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation

LONGEST = 1100
"""The longest row that is drawn: golden goes along it step by step."""


class LinearScan(Operation):
    """h[t] = a[t] * h[t-1] + b[t] along the last axis, where h before the first is 0.

    float16 and bfloat16 are computed in float32, and each state is rounded once, in the result alone. States may be
    computed in any order that associates steps: Blelloch, "Prefix sums and their applications", CMU-CS-90-190.
    """

    name = "linear_scan"
    policies: ClassVar = {
        "NaN": "from a NaN on, states are NaN",
        "inf": "open from an infinity on; where the first a is not finite, the whole row is open",
        "overflow": "open from where products of a or partial sums may leave the range: the order decides",
        "empty": "rows of no elements give an empty result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.shape(case, "a")
        if not shape:
            raise CaseError("linear_scan needs dims.a, a shape of rank 1 or more")
        return {"a": shape, "b": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "a")

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        shape = draw(strategies.row_shapes(budget))
        return {"a": [*shape[:-1], min(shape[-1], LONGEST)]}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        if tensor == "a":  # those that do not grow, as a state that is kept does not
            return "normal", "positive", "cancelling", "signed_zero", "nan", "inf", "mixed"
        return self.without_flushed(self.without_overflow(super().regimes(dtype, tensor), dtype), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"b": -1}

    def reference(self, a: Any, b: Any) -> Any:
        return enclosure.linear_recurrence(a, b)
