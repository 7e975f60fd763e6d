"""histogram(index, *, bins): how often each bin's number comes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class Histogram(Operation):
    """The number of elements of ``index``, of any shape, that are 0, 1, ... ``bins`` - 1: int64."""

    name = "histogram"
    dtypes = ("int32", "int64")
    neutral = -1.0
    toothless: ClassVar = {"permuted": "the same elements in another order are counted alike"}
    policies: ClassVar = {
        "out of range": "numbers below 0, and from ``bins`` on, are in no bin and are not counted",
        "empty": "nothing counts 0 in every bin",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape, bins = self.shape(case, "index"), case.params.get("bins")
        if not shape or not isinstance(bins, int) or bins < 1:
            raise CaseError(f"histogram needs dims.index, of rank 1 or more, and params.bins from 1 on, not {bins!r}")
        return {"index": shape}

    def limits(self, case: Case, tensor: str) -> tuple[int, int]:
        return -1, case.params["bins"] + 1

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return (case.params["bins"],)

    def output_dtype(self, case: Case) -> str:
        return "int64"

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        bins = st.sampled_from([1, 2, 7, 16, 17, 64, 255, 256, 257, 1000, 1024, 5000])
        return st.tuples(strategies.shapes(budget, ranks=(1, 1, 2, 3, 4)), bins).map(
            lambda drawn: ({"index": drawn[0]}, {"bins": drawn[1]})
        )

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"index": -1}

    def reference(self, index: np.ndarray, *, bins: int) -> Any:
        return np.bincount(index[(index >= 0) & (index < bins)], minlength=bins).astype(np.int64)
