"""unpack_int4(packed): two signed numbers of four bits from each byte."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class UnpackInt4(Operation):
    """The two halves of each byte, the lower one first, as int8 from -8 to 7: the last axis is twice as long."""

    name = "unpack_int4"
    dtypes = ("uint8",)
    policies: ClassVar = {"order": "the lower half of a byte comes first"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"packed": self.rows(case, "packed")}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        *rows, bytes_ = self.rows(case, "packed")
        return (*rows, 2 * bytes_)

    def output_dtype(self, case: Case) -> str:
        return "int8"

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"packed": 0}) if len(self.rows(case, "packed")) > 1 else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        shapes = strategies.shapes(budget // 2, ranks=(1, 2, 3, 4))
        return shapes.map(lambda shape: ({"packed": [*shape[:-1], max(shape[-1], 1)]}, {}))

    def reference(self, packed: Any) -> Any:
        halves = np.stack([packed & 15, packed >> 4], -1)
        return ((halves ^ 8) - 8).reshape(*packed.shape[:-1], 2 * packed.shape[-1])
