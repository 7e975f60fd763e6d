"""sort(x, *, dim, descending): the elements along an axis in order, and where they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError, Form
from golden.dtypes import FLOATS
from kernels.along import Along
from kernels.ordering import misplaced, ordered


class Sort(Along):
    """The elements of ``x`` along ``dim`` from the smallest to the largest, or the other way, and their indices."""

    name = "sort"
    dtypes = (*FLOATS, "int64")
    policies: ClassVar = {
        "ties": "of equal elements any may come first; each index comes once, with its element",
        "NaN": "counts as the largest of all",
        "empty": "an axis of length 0 gives empty results",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if not isinstance(case.params.get("descending"), bool):
            raise CaseError(f"sort needs params.descending, true or false, not {case.params.get('descending')!r}")
        return super().shapes(case)

    def results(self, case: Case) -> dict[str, Form]:
        shape = self.output_shape(case)
        return {"values": Form(shape, case.dtype), "indices": Form(shape, "int64")}

    def independent_axis(self, case: Case) -> None:
        return None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        # A network of log2(n)**2 passes costs an interpreter several times what other operations do.
        return st.tuples(super().dims(budget // 4), st.booleans()).map(
            lambda drawn: (drawn[0][0], {**drawn[0][1], "descending": drawn[1]})
        )

    def contradiction(self, case: Case, inputs: Mapping[str, np.ndarray], results: Mapping[str, np.ndarray]) -> str:
        return misplaced(inputs["x"], results["values"], results["indices"], case.params["dim"])

    def reference(self, x: Any, *, dim: int, descending: bool) -> Any:
        return ordered(enclosure.numbers(x), dim, descending=descending)
