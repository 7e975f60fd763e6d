"""gemm_bias(a, b, bias): a matrix product with a bias added to each of its rows."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class GemmBias(Operation):
    """a @ b + bias; a is (m, k), b is (k, n), bias is (n). The bias is added before the one rounding into the dtype.

    float16 and bfloat16 are accumulated in float32. Whether the bias is added to the finished sums or the sums begin
    with it is left to the implementation: it is one more term.
    """

    name = "gemm_bias"
    multiplies_matrices = True
    policies: ClassVar = {
        "NaN": "a NaN in a row of a, a column of b or an element of the bias makes NaN what it takes part in",
        "inf": "0 * inf and inf - inf are NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "k = 0 gives the bias",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = self.size(case, "m", "n", "k")
        return {"a": (m, k), "b": (k, n), "bias": (n,)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "m", "n")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"a": 0}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        sizes = strategies.matrix_sizes(budget)
        return sizes.map(lambda size: (dict(zip(("m", "n", "k"), size, strict=True)), {}))

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1, "b": -2}

    def reference(self, a: Any, b: Any, bias: Any) -> Any:
        return enclosure.matmul(a, b, plus=bias)
