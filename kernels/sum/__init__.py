"""sum(x, *, dim): the sum of the elements along an axis."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from kernels import strategies
from kernels.operation import Operation


class Sum(Operation):
    """The sum along ``dim``, which the result does not have; float16 and bfloat16 are added up in float32."""

    name = "sum"
    dtypes = (*FLOATS, "int64")
    policies: ClassVar = {
        "NaN": "a NaN, or infinities of both signs, make NaN",
        "inf": "an infinity makes an infinity",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "empty": "an axis of length 0 sums to 0",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape, dim = self.shape(case, "x"), case.params.get("dim")
        if not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
            raise CaseError(f"sum needs params.dim, an axis of the shape {list(shape)}, not {dim!r}")
        return {"x": shape}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        shape, dim = self.shape(case, "x"), case.params["dim"]
        return tuple(size for axis, size in enumerate(shape) if axis != dim % len(shape))

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        rank, dim = len(self.shape(case, "x")), case.params["dim"]
        others = [axis for axis in range(rank) if axis != dim % rank]
        return (0, {"x": others[0]}) if others else None

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
        return enclosure.squeezed(enclosure.total(x, dim), dim)
