"""cross_entropy(logits, target): the mean negative log-likelihood of target classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class CrossEntropy(Operation):
    """The mean over rows of log(sum exp logits) - logits[target]; float16 and bfloat16 are computed in float32."""

    name = "cross_entropy"
    tensor_dtypes: ClassVar = {"target": "int64"}
    neutral = float("-inf")
    toothless: ClassVar = {"lower inputs": "it is one number of many logits, and what each of them loses averages out"}
    policies: ClassVar = {
        "NaN": "a NaN anywhere makes the result NaN",
        "inf": "a logit of +inf makes the result NaN; a target whose logit is -inf makes it +inf",
        "fully masked": "a row of -inf alone makes the result NaN",
        "target out of range": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        rows, classes = self.size(case, "rows", "classes")
        if not rows or not classes:
            raise CaseError(f"cross_entropy needs one row and one class or more, not {dict(case.dims)}")
        return {"logits": (rows, classes), "target": (rows,)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return ()

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, self.size(case, "classes")[0]) if tensor == "target" else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.row_shapes(budget).map(_rows_and_classes)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"logits": -1}

    def reference(self, logits: Any, target: np.ndarray) -> Any:
        peak = enclosure.amax(logits, -1)
        chosen = enclosure.taken(logits, (np.arange(target.size)[:, None], target[:, None]))
        spread = enclosure.log(enclosure.total(enclosure.exp(logits - peak), -1))
        losses = enclosure.either((peak + spread) - chosen, spread - (chosen - peak))
        return enclosure.reshaped(enclosure.mean(enclosure.kept(losses), 0), ())


def _rows_and_classes(shape: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    rows = max(int(np.prod(shape[:-1], dtype=np.int64)), 1)
    return {"rows": rows, "classes": max(shape[-1], 1)}, {}
