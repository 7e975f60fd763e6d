"""fp8_gemm(a, b, scale_a, scale_b): a matrix product of numbers of 8 bits, with a scale for each row and column."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation


class Fp8Gemm(Operation):
    """(a @ b) * scale_a * scale_b in bfloat16; a is (m, k) and b (k, n) in float8, the scales (m) and (n) in float32.

    The format is E4M3 of Micikevicius et al., "FP8 formats for deep learning", arXiv:2209.05433. Products, which are
    exact in float32, are accumulated and scaled in float32, and rounded once. Matrix units that add with fewer bits
    do not do that: an implementation that uses them declares its accumulator.
    """

    name = "fp8_gemm"
    multiplies_matrices = True
    dtypes: ClassVar = ("float8_e4m3fn",)
    tensor_dtypes: ClassVar = {"scale_a": "float32", "scale_b": "float32"}
    policies: ClassVar = {
        "NaN": "a NaN in a row of a, a column of b or a scale makes NaN what it takes part in",
        "inf": "a scale of infinity times 0 is NaN; the format of a and b has no infinity",
        "empty": "k = 0 gives zeros",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = self.size(case, "m", "n", "k")
        return {"a": (m, k), "b": (k, n), "scale_a": (m,), "scale_b": (n,)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "m", "n")

    def output_dtype(self, case: Case) -> str:
        return "bfloat16"

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"a": 0, "scale_a": 0}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        sizes = strategies.matrix_sizes(budget)
        return sizes.map(lambda size: (dict(zip(("m", "n", "k"), size, strict=True)), {}))

    def precision(self, dtype: str) -> Precision:
        return Precision("float32")

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        known = super().regimes(dtype, tensor)
        if tensor not in self.tensor_dtypes:
            return known
        return self.without_overflow(self.without_flushed(known, "float32"), "float32")

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1, "b": -2}

    def reference(self, a: Any, b: Any, scale_a: Any, scale_b: Any) -> Any:
        rows = enclosure.reshaped(scale_a, (scale_a.shape[0], 1))
        product = enclosure.matmul(a, b)
        return enclosure.either(product * rows * scale_b, product * (rows * scale_b))
