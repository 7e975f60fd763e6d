"""gemm(a, b): the matrix product, batched when the operands have a batch axis."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels import strategies
from kernels.operation import Operation
from kernels.relations import scaled, split, transposed


class Gemm(Operation):
    """a @ b; a is (batch..., m, k), b is (batch..., k, n). float16 and bfloat16 accumulate in float32."""

    name = "gemm"
    multiplies_matrices = True
    policies: ClassVar = {
        "NaN": "a NaN in a row of a or a column of b makes every element of their product NaN",
        "inf": "0 * inf and inf - inf are NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "k = 0 gives zeros",
    }
    relations: ClassVar = {
        "a twice": scaled("a"),
        "b in two parts": split("b", "a"),
        "transposed": transposed("a", "b"),
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        batch, (m, n, k) = self._batch(case), self.size(case, "m", "n", "k")
        return {"a": (*batch, m, k), "b": (*batch, k, n)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return (*self._batch(case), *self.size(case, "m", "n"))

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return -2, {"a": -2}

    def _batch(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "batch") if "batch" in case.dims else ()

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        batch = draw(st.sampled_from([None, None, None, 1, 2, 3, 0]))
        sizes = draw(strategies.matrix_sizes(budget // (batch or 1)))
        dims: dict[str, Any] = dict(zip(("m", "n", "k"), sizes, strict=True))
        return dims if batch is None else {"batch": batch, **dims}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1, "b": -2}

    def reference(self, a: Any, b: Any) -> Any:
        return enclosure.matmul(a, b)
