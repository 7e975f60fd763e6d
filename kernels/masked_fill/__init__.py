"""masked_fill(x, mask, *, value): the elements of x, but a number in the place of those that a mask names."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels.elementwise import Broadcast

VALUES = (0, -1, 100, -100)


class MaskedFill(Broadcast):
    """``value`` where ``mask`` is not 0, and x elsewhere: a selection, so the result is exact.

    The mask is uint8, of which any number but 0 means true. The two are broadcast against each other.
    """

    name = "masked_fill"
    dtypes = (*FLOATS, "int32", "int8", "int64")
    tensor_dtypes: ClassVar = {"mask": "uint8"}
    policies: ClassVar = {
        "NaN": "of x is kept where the mask is 0, and leaves no trace elsewhere",
        "signed zero": "open: the sign of a zero result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if not isinstance(case.params.get("value"), (int, float)):
            raise CaseError(f"masked_fill needs params.value, a number, not {case.params.get('value')!r}")
        return super().shapes(case)

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, 3) if tensor == "mask" else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        values = st.sampled_from(VALUES)
        return st.tuples(super().dims(budget), values).map(lambda both: (both[0][0], {"value": both[1]}))

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, mask: Any, *, value: float) -> Any:
        return enclosure.where(mask != 0, value, x)
