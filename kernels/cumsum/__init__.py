"""cumsum(x, *, dim, reverse): the sums up to each element along an axis, or from each on."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from kernels.along import Along


class Cumsum(Along):
    """The sum of each element and those before it along ``dim``, or of those after it if ``reverse``.

    float16 and bfloat16 are added up in float32, and each sum is rounded once.
    """

    name = "cumsum"
    dtypes = (*FLOATS, "int64")
    policies: ClassVar = {
        "NaN": "from a NaN on, or once infinities of both signs have come, sums are NaN",
        "inf": "from an infinity on sums are infinite",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "empty": "an axis of length 0 gives an empty result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if not isinstance(case.params.get("reverse"), bool):
            raise CaseError(f"cumsum needs params.reverse, true or false, not {case.params.get('reverse')!r}")
        return super().shapes(case)

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return st.tuples(super().dims(budget), st.booleans()).map(
            lambda drawn: (drawn[0][0], {**drawn[0][1], "reverse": drawn[1]})
        )

    def reference(self, x: Any, *, dim: int, reverse: bool) -> Any:
        return enclosure.cumulative(x, dim, reverse=reverse)
