"""What the contracts of functions along one axis of one tensor have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class Along(Operation, abstract=True):
    """A function of the rows of ``x`` along ``dim``; the result has its shape."""

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape, dim = self.shape(case, "x"), case.params.get("dim")
        if not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
            raise CaseError(f"{self.name} needs params.dim, an axis of the shape {list(shape)}, not {dim!r}")
        return {"x": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        shape = self.shape(case, "x")
        others = [axis for axis in range(len(shape)) if axis != case.params["dim"] % len(shape)]
        # Without ``dim`` in the result, the first of the other axes is its first.
        kept = len(self.output_shape(case)) == len(shape)
        return (others[0] if kept else 0, dict.fromkeys(self.shapes(case), others[0])) if others else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return along_axis(budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": case.params["dim"]}


class Reduction(Along, abstract=True):
    """A function of the rows of ``x`` along ``dim``, which the result does not have."""

    def output_shape(self, case: Case) -> tuple[int, ...]:
        shape, dim = self.shape(case, "x"), case.params["dim"]
        return tuple(size for axis, size in enumerate(shape) if axis != dim % len(shape))


class Selection(Reduction, abstract=True):
    """A function of rows of one element or more: nothing is the largest of none."""

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = super().shapes(case)
        if not shapes["x"][case.params["dim"]]:
            raise CaseError(f"{self.name} needs one element or more along params.dim, not the shape {shapes['x']}")
        return shapes

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return along_axis(budget, least=1)


@st.composite
def along_axis(draw: st.DrawFn, budget: int, *, least: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw dims and params of a function along an axis of ``least`` elements or more."""
    shape = draw(strategies.row_shapes(budget))
    dim = draw(st.sampled_from([-1, *range(len(shape))]))
    shape[dim] = max(shape[dim], least)
    return {"x": shape}, {"dim": dim}
