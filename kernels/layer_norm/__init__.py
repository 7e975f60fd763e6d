"""layer_norm(x, weight, bias, *, eps): rows with mean 0 and variance 1, then scaled and shifted."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels import strategies
from kernels.operation import Operation


class LayerNorm(Operation):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last axis; the variance is that of the population.

    Ba, Kiros and Hinton, "Layer normalization", arXiv:1607.06450. float16 and bfloat16 are computed in float32.
    """

    name = "layer_norm"
    policies: ClassVar = {
        "NaN": "a row that holds a NaN is all NaN",
        "inf": "a row that holds an infinity is all NaN",
        "overflow": "open where squares exceed the range, since the order decides",
        "one element": "a row of one element is its bias",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = self.rows(case, "x")
        return {"x": shape, "weight": shape[-1:], "bias": shape[-1:]}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, "x")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, {"x": 0}) if len(self.shape(case, "x")) > 1 else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.normalized(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": -1}

    def reference(self, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
        mean = enclosure.mean(x, -1, running=True)
        centred = x - mean
        variance = enclosure.mean(centred * centred, -1, running=True)
        scale = enclosure.rsqrt(variance + enclosure.constant(eps, x))
        normal = enclosure.either(centred * scale, x * scale - mean * scale)
        return enclosure.kept(normal) * weight + bias
