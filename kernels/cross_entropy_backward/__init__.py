"""cross_entropy_backward(grad, logits, target): the gradient of the mean loss."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels.cross_entropy import CrossEntropy
from kernels.operation import Operation


class CrossEntropyBackward(Operation):
    """(softmax(logits) - 1 where the target is) * grad / rows; float16 and bfloat16 are computed in float32."""

    name = "cross_entropy_backward"
    tensor_dtypes: ClassVar = {"target": "int64"}
    neutral = float("-inf")
    policies: ClassVar = {
        "NaN": "a row of logits that holds a NaN is all NaN; a NaN of grad makes everything NaN",
        "inf": "a row that holds +inf is all NaN; open where grad is infinite",
        "fully masked": "a row of -inf alone is all NaN",
        "target out of range": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"grad": (), **CrossEntropy.shapes(self, case)}  # type: ignore[arg-type]

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "rows", "classes")

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, self.size(case, "classes")[0]) if tensor == "target" else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return CrossEntropy.dims(self, budget)  # type: ignore[arg-type]

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        regimes = self.without_overflow(super().regimes(dtype, tensor), dtype)
        if tensor == "grad":  # one number: were it infinite, everything would be open
            finite = tuple(regime for regime in regimes if regime not in ("inf", "mixed", "masked"))
            return self.without_flushed(finite, dtype)
        return regimes

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"logits": -1}

    def reference(self, grad: Any, logits: Any, target: np.ndarray) -> Any:
        away = logits - enclosure.amax(logits, -1)
        exponentials = enclosure.exp(away)
        total = enclosure.total(exponentials, -1)
        y = enclosure.either(exponentials / total, enclosure.exp(away - enclosure.log(total)))
        chosen = (np.arange(logits.shape[-1]) == target[:, None]).astype(np.float64)
        share = grad / float(logits.shape[0])
        result = enclosure.either((y - chosen) * share, y * share - share * chosen)
        return enclosure.opened(result, np.isinf(enclosure.numbers(grad)))
