"""clamp(x, *, min, max): each element, or the nearer end of a range that it is outside of."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels.elementwise import Elementwise

RANGES = ((-1, 1), (0, 6), (-5, -2), (None, 3), (-2, None), (3, -3))


class Clamp(Elementwise):
    """The smaller of ``max`` and the larger of ``min`` and x: a selection, so the result is exact.

    One of the two may be None. Where ``min`` is above ``max`` the result is ``max``.
    """

    name = "clamp"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    policies: ClassVar = {"NaN": "propagates", "signed zero": "open: the sign of a zero result"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        low, high = case.params.get("min"), case.params.get("max")
        if low is None and high is None:
            raise CaseError("clamp needs params.min or params.max")
        return super().shapes(case)

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        ranges = st.sampled_from(RANGES).map(lambda ends: dict(zip(("min", "max"), ends, strict=True)))
        return st.tuples(super().dims(budget), ranges).map(lambda both: (both[0][0], both[1]))

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, *, min: float | None, max: float | None) -> Any:
        risen = x if min is None else enclosure.maximum(x, min)
        return risen if max is None else enclosure.minimum(risen, max)
