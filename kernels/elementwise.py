"""What the contracts of functions of one tensor, element by element, have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class Elementwise(Operation, abstract=True):
    """A function of each element of ``x``; the result has its shape."""

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"x": self.shape(case, "x")}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"x": 0}) if self.shape(case, "x") else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.shapes(budget).map(lambda shape: ({"x": shape}, {}))
