"""softmax(x, *, dim): exponentials that sum to one along an axis."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation
from kernels.relations import shifted


class Softmax(Operation):
    """exp(x - max x) / sum exp(x - max x) along ``dim``; float16 and bfloat16 are computed in float32."""

    name = "softmax"
    also_drawn: ClassVar = {"x": ("lowest",)}
    neutral = float("-inf")
    policies: ClassVar = {
        "NaN": "a row that holds a NaN is all NaN",
        "inf": "a row that holds +inf is all NaN",
        "fully masked": "a row of -inf alone is all NaN",
        "empty": "an axis of length 0 gives an empty result",
    }
    relations: ClassVar = {"x and 1": shifted("x")}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape, dim = self.shape(case, "x"), case.params.get("dim")
        if not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
            raise CaseError(f"softmax needs params.dim, an axis of the shape {list(shape)}, not {dim!r}")
        return {"x": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        rank = len(self.shape(case, "x"))
        others = [axis for axis in range(rank) if axis != case.params["dim"] % rank]
        return (others[0], {"x": others[0]}) if others else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        shape = draw(strategies.row_shapes(budget))
        dim = draw(st.sampled_from([-1, *range(len(shape))]))
        return {"x": shape}, {"dim": dim}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": case.params["dim"]}

    def reference(self, x: Any, *, dim: int) -> Any:
        exponentials = enclosure.kept(enclosure.exp(x - enclosure.amax(x, dim)))
        return exponentials / enclosure.total(exponentials, dim)
