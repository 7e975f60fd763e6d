"""topk(x, *, k): the largest elements along the last axis in descending order, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError, Form
from golden.dtypes import FLOATS
from kernels import strategies
from kernels.operation import Operation
from kernels.ordering import misplaced, ordered


class Topk(Operation):
    """The ``k`` largest elements of each row of ``x``, from the largest on, and their indices."""

    name = "topk"
    dtypes = (*FLOATS, "int64")
    neutral = float("-inf")
    policies: ClassVar = {
        "ties": "of equal elements any are taken, in any order; each index comes once, with its element",
        "NaN": "counts as the largest of all",
        "empty": "k = 0 gives empty results",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape, k = self.shape(case, "x"), case.params.get("k")
        if not shape or not isinstance(k, int) or not 0 <= k <= shape[-1]:
            raise CaseError(f"topk needs params.k, 0 up to the last size of dims.x = {list(shape)}, not {k!r}")
        return {"x": shape}

    def results(self, case: Case) -> dict[str, Form]:
        shape = (*self.shape(case, "x")[:-1], case.params["k"])
        return {"values": Form(shape, case.dtype), "indices": Form(shape, "int64")}

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        shape = draw(strategies.row_shapes(budget))
        k = draw(st.sampled_from([1, 2, 3, 8, 50, shape[-1], shape[-1] // 2]))
        return {"x": shape}, {"k": min(k, shape[-1])}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget // 4)  # for the same reason as a sort's

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def contradiction(self, case: Case, inputs: Mapping[str, np.ndarray], results: Mapping[str, np.ndarray]) -> str:
        return misplaced(inputs["x"], results["values"], results["indices"], -1)

    def reference(self, x: Any, *, k: int) -> Any:
        values, indices = ordered(enclosure.numbers(x), -1, descending=True)
        return values[..., :k], indices[..., :k]
